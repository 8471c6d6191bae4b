/** `yarn.lock` of either generation of yarn. */
import { parseSyml } from '@yarnpkg/parsers';
import type { Parser } from '../inputs/view.ts';
import { berryLockfile } from './berry.ts';
import type { ReadLockfile } from './lockfile.ts';
import { yarn1Lockfile } from './yarn1.ts';

/** Reads `yarn.lock`. */
export const yarnLock: Parser<ReadLockfile> = { name: 'yarn.lock', parse: read };

function read(content: Buffer): ReadLockfile {
  const text = content.toString('utf8');
  try {
    const parsed = parseSyml(text) as Readonly<Record<string, unknown>>;
    if ('__metadata' in parsed) return berryLockfile(parsed);
    if (YARN_1.test(text)) return { kind: 'lockfile', lockfile: yarn1Lockfile(parsed) };
    return { kind: 'whole', why: 'yarn.lock says neither “yarn lockfile v1” nor “__metadata”' };
  } catch (error) {
    return { kind: 'whole', why: `yarn.lock cannot be read: ${(error as Error).message}` };
  }
}

/** The comment by which yarn 1 and the parser know it. */
const YARN_1 = /^#\s+yarn\s+lockfile\s+v1\s*$/im;
