/** All watched repositories: who is polled when, and what a pass sees of them. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { limits } from '../../shared/limits.ts';
import { gitUsable } from './choose.ts';
import type { GitProgram } from './command.ts';
import { QUOTA, type Quota } from './folder.ts';
import { follow, type Follower } from './follow.ts';
import { mirrorName, readSettings, type Readable } from './settings.ts';
import type { RepositorySettings, Sources } from './source.ts';
import { watchRef, type Watch } from './watch.ts';

export interface SourcesOptions {
  readonly repositories: readonly RepositorySettings[];
  /** Folder for mirrors, inside the hub's data folder; nothing else may be in it. */
  readonly folder: string;
  readonly git: GitProgram;
  /** Something may be new: a watched ref moved, or a slow poll ended. A pass should be made soon. */
  readonly onHint: () => void;
  /** For the jitter of back-offs; from 0 to below 1. */
  readonly random?: () => number;
  /** How long `refresh` waits for polls. */
  readonly graceMs?: number;
  /** How long a poll keeps one of the places of those that are made at once; it goes on without. */
  readonly placeMs?: number;
  readonly quota?: Quota;
}

/** Reads all settings before anything starts; throws one error that names everything wrong with them. */
export async function makeSources(options: SourcesOptions): Promise<Sources> {
  const { folder, git, onHint, random = Math.random, graceMs = limits.pollGraceMs } = options;
  const { quota = QUOTA, placeMs = limits.pollPlaceMs } = options;
  const readable = readAll(options.repositories);
  await mkdir(folder, { recursive: true });
  await removeUnused(folder, readable);
  const usable = await gitUsable(git);
  const followers = await Promise.all(
    readable.map((one) => follow(one, { git, usable, folder, quota, random })),
  );
  const watches = await Promise.all(
    readable.map((one, n) => watchLocal(one, followers[n] as Follower, onHint)),
  );
  const limit = pLimit(limits.pollsAtOnce);
  const running = new Map<string, Promise<void>>();
  const stop = new AbortController();

  const start = (follower: Follower, local: boolean, now: number): void => {
    const poll = (): Promise<void> => (stop.signal.aborted ? Promise.resolve() : follower.poll(now));
    const work = local ? poll() : placed(limit, poll, placeMs);
    running.set(
      follower.name,
      work.finally(() => running.delete(follower.name)),
    );
  };
  return {
    async refresh(now) {
      followers.forEach((follower, n) => {
        if (running.has(follower.name) || follower.dueAt() > now || stop.signal.aborted) return;
        start(follower, readable[n]?.remote.kind === 'local', now);
      });
      await allOrGrace([...running.values()], { graceMs, onLate: onHint, signal: stop.signal });
      return followers.map((follower) => follower.view());
    },
    async older(name, commit) {
      const follower = followers.find((one) => one.name === name);
      if (follower === undefined)
        return { kind: 'failed', state: 'Unreachable', message: `there is no repository ${name}` };
      const opened = await follower.older(commit);
      return opened.kind === 'failed' ? opened : opened.tree;
    },
    nextDue: () => Math.min(...followers.map((each) => (running.has(each.name) ? Infinity : each.dueAt()))),
    async close() {
      stop.abort();
      watches.forEach((watch) => watch?.close());
      await Promise.all(followers.map((follower) => follower.close()));
      await Promise.all(running.values());
    },
  };
}

/** Resolves when the work is done; a remote that hangs keeps its place only for a while, so it holds up no other one. */
function placed(limit: LimitFunction, work: () => Promise<void>, placeMs: number): Promise<void> {
  return new Promise((resolve) => {
    void limit(async () => {
      const done = new AbortController();
      const all = work().finally(() => done.abort());
      void all.then(resolve, resolve);
      await delay(placeMs, undefined, { signal: done.signal }).catch(() => undefined);
    });
  });
}

function readAll(repositories: readonly RepositorySettings[]): Readable[] {
  const read = repositories.map(readSettings);
  const names = repositories.map(({ name }) => name);
  const twice = names.filter((name, n) => names.indexOf(name) !== n);
  const problems = [
    ...read.filter((one) => typeof one === 'string'),
    ...twice.map((name) => `repository ${name}: the name is used twice`),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return read.filter((one) => typeof one !== 'string');
}

/** Mirrors of repositories that are no longer configured. */
async function removeUnused(folder: string, readable: readonly Readable[]): Promise<void> {
  const used = new Set(readable.map(mirrorName));
  for (const name of await readdir(folder))
    if (!used.has(name.replace(/(?:\.(?:iso|new|old|past|process|accepted))+$/, '')))
      await rm(join(folder, name), { recursive: true, force: true });
}

async function watchLocal(
  { remote, ref }: Readable,
  follower: Follower,
  onHint: () => void,
): Promise<Watch | undefined> {
  if (remote.kind !== 'local') return undefined;
  return watchRef(remote.path, ref, () => {
    follower.hint();
    onHint();
  });
}

interface Grace {
  readonly graceMs: number;
  /** Called once for each piece of work that ends after the wait. */
  readonly onLate: () => void;
  readonly signal: AbortSignal;
}

/** One slow remote does not hold up what the others brought. */
async function allOrGrace(work: readonly Promise<void>[], { graceMs, onLate, signal }: Grace): Promise<void> {
  if (work.length === 0) return;
  const done = new AbortController();
  let late = false;
  const all = work.map((each) => each.then(() => void (late && !signal.aborted && onLate())));
  const grace = delay(graceMs, undefined, { signal: AbortSignal.any([done.signal, signal]) }).catch(
    () => undefined,
  );
  await Promise.race([Promise.all(all), grace]);
  late = true;
  done.abort();
}
