/** Which copy of a program to use: the named one, the one on PATH, the one built earlier, or one to be built. */
import type { Wanted } from './catalog.ts';

/** A program that was found somewhere, and what it said of itself. */
export interface Candidate {
  readonly path: string;
  /** Undefined when it could not be started or did not say. */
  readonly version: string | undefined;
  /** Those of `Wanted.beside` that are not in its folder. */
  readonly missing: readonly string[];
}

export interface Seen {
  /** Undefined when the variable is not set. */
  readonly named: Candidate | undefined;
  readonly onPath: Candidate | undefined;
  /** Path in the cache, where it was built from exactly these sources. */
  readonly built: string | undefined;
}

export type Decision =
  | { readonly kind: 'use'; readonly path: string; readonly from: 'environment' | 'PATH' | 'cache' }
  /** Nothing will do; `passedOver` says why the one on PATH would not. */
  | { readonly kind: 'build'; readonly passedOver: string | undefined }
  /** What a person named does not work. Silently taking another one would hide that. */
  | { readonly kind: 'refuse'; readonly reason: string };

/** The environment wins and must be right, then PATH if it fits, then the cache. */
export function decide(wanted: Wanted, seen: Seen): Decision {
  if (seen.named !== undefined) {
    const fault = faultOf(wanted, seen.named);
    return fault === undefined
      ? { kind: 'use', path: seen.named.path, from: 'environment' }
      : { kind: 'refuse', reason: `${wanted.variable}: ${fault}` };
  }
  const passedOver = seen.onPath === undefined ? undefined : faultOf(wanted, seen.onPath);
  if (seen.onPath !== undefined && passedOver === undefined)
    return { kind: 'use', path: seen.onPath.path, from: 'PATH' };
  if (seen.built !== undefined) return { kind: 'use', path: seen.built, from: 'cache' };
  return { kind: 'build', passedOver };
}

function faultOf(wanted: Wanted, candidate: Candidate): string | undefined {
  const { path, version, missing } = candidate;
  if (version === undefined) return `${path} does not start or does not tell its version`;
  if (compareVersions(version, wanted.atLeast) < 0)
    return `${path} is version ${version}, at least ${wanted.atLeast} is needed`;
  if (missing.length > 0) return `beside ${path} there is no ${missing.join(', no ')}`;
  return undefined;
}

/** The first number with dots in what a program prints: "nats-server: v2.15.2" is 2.15.2. */
export const versionIn = (text: string): string | undefined => /\d+(?:\.\d+)+/.exec(text)?.[0];

/** Negative, zero or positive as `one` is older than, equal to or newer than `other`. Missing parts count as zero. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const longest = a.length > b.length ? a : b;
  return longest.map((_, index) => (a[index] ?? 0) - (b[index] ?? 0)).find((part) => part !== 0) ?? 0;
}

/** The newest of some versions; there is at least one. */
export const newest = (versions: readonly string[]): string =>
  versions.reduce((one, other) => (compareVersions(one, other) >= 0 ? one : other));

export type GoSeen =
  | { readonly kind: 'missing' }
  /** It is there, but could not say its version for this module: too old, or barred from fetching a newer one. */
  | { readonly kind: 'broken'; readonly output: string }
  | { readonly kind: 'version'; readonly version: string };

/** What a person has to install before anything can be built; undefined when Go will do. */
export function goFault(needed: string, seen: GoSeen): string | undefined {
  const advice = `install Go ${needed} or newer (https://go.dev/doc/install)`;
  switch (seen.kind) {
    case 'missing':
      return `Go is not installed: ${advice}`;
    case 'broken':
      return `Go does not work (${seen.output.trim()}): ${advice}`;
    case 'version':
      return compareVersions(seen.version, needed) >= 0
        ? undefined
        : `Go is version ${seen.version}: ${advice}`;
  }
}
