/** What the agent finds on its machine. */
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { sha256 } from '../shared/canonical.ts';
import type { Machine } from './config.ts';

/** What is known of this machine. */
export async function inspectMachine(): Promise<Machine> {
  const id = await readFile('/etc/machine-id', 'utf8').catch(() => hostname());
  return {
    hostname: hostname(),
    isRoot: process.getuid?.() === 0,
    incarnationOf: (cluster) => sha256(`${id.trim()} ${cluster}`).slice(0, 32),
  };
}

/** Folders of a PATH variable. */
export const foldersOfPath = (path: string | undefined): readonly string[] =>
  (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));

/** Full path of a program: a path as it is, a name as the first in `folders`; undefined when there is none. */
export async function findProgram(name: string, folders: readonly string[]): Promise<string | undefined> {
  const candidates = name.includes(sep) ? [resolve(name)] : folders.map((folder) => join(folder, name));
  for (const candidate of candidates) {
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return candidate;
  }
  return undefined;
}
