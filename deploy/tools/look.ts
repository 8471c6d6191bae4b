/** Looks at the machine: which programs are there, and what they say of themselves. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { exists, setFolder, type Environment, type Workshop } from './cache.ts';
import type { Wanted } from './catalog.ts';
import { versionIn, type Candidate, type GoSeen, type Seen } from './decide.ts';

const run = promisify(execFile);

/** A program that does not tell its version in this time hangs. */
const VERSION_TIMEOUT_MS = 20_000;

/** Everything that the decision needs, read lazily: a program that is named is all there is to look at. */
export async function lookFor(wanted: Wanted, workshop: Workshop): Promise<Seen> {
  const { environment } = workshop;
  const named = environment[wanted.variable];
  if (named !== undefined && named !== '')
    return { named: await inspect(wanted, resolve(named)), onPath: undefined, built: undefined };
  const onPath = await findOnPath(wanted.name, environment);
  const built = join(await setFolder(workshop, wanted), wanted.name);
  return {
    named: undefined,
    onPath: onPath === undefined ? undefined : await inspect(wanted, onPath),
    built: (await exists(built)) ? built : undefined,
  };
}

async function inspect(wanted: Wanted, path: string): Promise<Candidate> {
  const version = await versionOf(path, wanted.versionArgs);
  if (version === undefined) return { path, version, missing: [] };
  const folder = dirname(await realpath(path));
  const there = await Promise.all(wanted.beside.map((name) => exists(join(folder, name))));
  return { path, version, missing: wanted.beside.filter((_, index) => there[index] === false) };
}

async function versionOf(path: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, [...args], { timeout: VERSION_TIMEOUT_MS });
    return versionIn(stdout);
  } catch {
    return undefined;
  }
}

async function findOnPath(name: string, environment: Environment): Promise<string | undefined> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Go as it presents itself in a module's folder, where it may choose a newer toolchain by itself. */
export async function lookForGo(folder: string, environment: Environment): Promise<GoSeen> {
  try {
    const { stdout } = await run('go', ['version'], { cwd: folder, env: { ...environment } });
    const version = versionIn(stdout);
    return version === undefined ? { kind: 'broken', output: stdout } : { kind: 'version', version };
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'broken', output: stderr ?? String(error) };
  }
}
