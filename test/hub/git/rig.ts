/** Sources that a test polls by hand. */
import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSources, type SourcesOptions } from '../../../hub/git/poller.ts';
import type { RepositorySettings, Sources, SourceView } from '../../../hub/git/source.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';

export const INTERVAL = 1_000;

/** A repository as a hub may have it. */
export const settings = (url: string, more: Partial<RepositorySettings> = {}): RepositorySettings => ({
  name: 'fleet',
  url,
  ref: { branch: 'main' },
  trust: 'fleet',
  manifests: ['**/*.yaml'],
  intervalMs: INTERVAL,
  ...more,
});

export interface Rig {
  readonly sources: Sources;
  /** Polls whatever is due, with a clock that only this moves. */
  poll(): Promise<readonly SourceView[]>;
  now(): number;
  /** Commands that git was started with. */
  processes(): Promise<string[]>;
  hints: number;
  readonly folder: string;
}

/** Sources over a clock of their own. Every git process is noted by a program in between. */
export async function rigOf(
  owner: Owner,
  repositories: readonly RepositorySettings[],
  more: Partial<SourcesOptions> = {},
): Promise<Rig> {
  const folder = await tempFolder(owner, 'poller');
  const program = join(folder, 'git.sh');
  const log = join(folder, 'log');
  await writeFile(log, '');
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> ${log}\nexec git "$@"\n`);
  await chmod(program, 0o755);
  let now = 1_000_000;
  const options: SourcesOptions = {
    repositories,
    folder: join(folder, 'mirrors'),
    git: { program, environment: { PATH: process.env['PATH'], HOME: folder } },
    onHint: () => (rig.hints += 1),
    random: () => 1,
    graceMs: 60_000,
    ...more,
  };
  const sources = await makeSources(options);
  atEnd(owner, () => sources.close());
  const rig: Rig = {
    sources,
    poll: () => {
      now = Math.max(now, sources.nextDue());
      return sources.refresh(now);
    },
    now: () => now,
    processes: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean),
    hints: 0,
    folder: options.folder,
  };
  return rig;
}

/** Polls, and answers with the first source. */
export async function first(rig: Rig): Promise<SourceView> {
  const view = (await rig.poll())[0];
  assert.ok(view !== undefined);
  return view;
}

/** A repository with one commit. */
export async function started(owner: Owner): Promise<Repository> {
  const repository = await makeRepository(owner);
  await repository.commit('One', { 'a.yaml': '1' });
  return repository;
}
