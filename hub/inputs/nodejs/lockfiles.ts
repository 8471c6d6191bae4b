/** Lockfile → how it is read. */
import type { ReadLockfile } from '../../lockfiles/lockfile.ts';
import { yarnLock } from '../../lockfiles/yarn.ts';
import { nameOf } from '../paths.ts';
import type { Parser } from '../view.ts';

/** By the name of the file. What is not here is taken as a whole. */
const READERS: Readonly<Record<string, Parser<ReadLockfile>>> = { 'yarn.lock': yarnLock };

/** The parser of a lockfile; undefined for those of package managers that are not known here. */
export const lockfileParser = (path: string): Parser<ReadLockfile> | undefined => READERS[nameOf(path)];
