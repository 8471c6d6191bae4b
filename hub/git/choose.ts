/** Which driver reads a repository. */
import semver from 'semver';
import { limits } from '../../shared/limits.ts';
import { gitEnvironment, runGit, type GitProgram } from './command.ts';
import type { Remote } from './remote.ts';
import type { DriverChoice, DriverName } from './source.ts';

/** Whether the git program can be used here, and if not, why. */
export type GitUsable =
  | { readonly kind: 'usable'; readonly version: string }
  | { readonly kind: 'unusable'; readonly problem: string };

/** The oldest version that takes its settings from the environment alone and syncs its refs (2.36, April 2022). */
export const OLDEST_GIT = '2.36.0';

/** Starts git once. */
export async function gitUsable(git: GitProgram): Promise<GitUsable> {
  const end = await runGit(git, {
    args: ['--version'],
    env: gitEnvironment(git),
    timeoutMs: limits.gitProbeMs,
    maxBytes: 64 * 1024,
  });
  if (end.kind === 'failed') return { kind: 'unusable', problem: end.stderr.trim() };
  const version = semver.coerce(end.stdout.toString('utf8'))?.version;
  if (version === undefined || semver.lt(version, OLDEST_GIT))
    return { kind: 'unusable', problem: `it is version ${version ?? 'unknown'}, older than ${OLDEST_GIT}` };
  return { kind: 'usable', version };
}

export type Choice =
  | { readonly kind: 'driver'; readonly driver: DriverName }
  /** Nobody can read it here. */
  | { readonly kind: 'none'; readonly problem: string };

/** The driver for a remote. Only ssh cannot do without the git program. */
export function chooseDriver(wish: DriverChoice, usable: GitUsable, remote: Remote['kind']): Choice {
  if (wish !== 'isomorphic' && usable.kind === 'usable') return { kind: 'driver', driver: 'native' };
  const why = usable.kind === 'unusable' ? `the git program cannot be used: ${usable.problem}` : '';
  if (wish === 'native') return { kind: 'none', problem: `driver: native is set, but ${why}` };
  if (remote === 'ssh')
    return {
      kind: 'none',
      problem: `ssh needs the git program; ${why === '' ? 'driver: isomorphic is set; use https' : why}`,
    };
  return { kind: 'driver', driver: 'isomorphic' };
}
