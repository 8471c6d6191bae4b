/** Names of modules. */
import { isBuiltin } from 'node:module';

/** Whether a specifier is a path. */
export const isRelative = (specifier: string): boolean => /^\.{1,2}(?:\/|$)/.test(specifier);

/** Name of the package of a specifier: `@acme/lib/sub` is of `@acme/lib`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Whether a specifier is one of a package that has to be installed. */
export const isPackage = (specifier: string): boolean =>
  /^(?:@[^/@:\s]+\/)?[^./@:#\s][^/@:\s]*(?:\/|$)/.test(specifier) && !isBuiltin(specifier);
