/** All watched repositories: who is polled when, and what a pass sees of them. */
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../shared/limits.ts';
import { gitUsable } from './choose.ts';
import type { GitProgram } from './command.ts';
import { QUOTA, type Quota } from './folder.ts';
import type { HostLimits } from './budget.ts';
import { lfsUsable } from './gitlfs.ts';
import { makeHosts } from './hosts.ts';
import { makeMembers, type Member } from './members.ts';
import { readSettings, type Readable } from './settings.ts';
import type { AskedSource, RepositorySettings, Sources, SourceView } from './source.ts';

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
  /** How much each host may be asked; default: limits.ts. */
  readonly perHost?: HostLimits;
}

/** Reads all settings before anything starts; throws one error that names everything wrong with them. */
export async function makeSources(options: SourcesOptions): Promise<Sources> {
  const { folder, git, onHint, random = Math.random, graceMs = limits.pollGraceMs } = options;
  const { quota = QUOTA, placeMs = limits.pollPlaceMs } = options;
  const hosts = makeHosts(options.perHost ?? HOST_LIMITS);
  const [usable, lfs] = await Promise.all([gitUsable(git), lfsUsable(git)]);
  const members = await makeMembers(readAll(options.repositories), {
    ...{ folder, git, usable, lfs, quota, random, hosts, onHint },
  });
  const running = new Map<string, Promise<void>>();
  /** By name, what waits for its host, and until when. */
  const waiting = new Map<string, number>();
  const stop = new AbortController();
  let asked: readonly AskedSource[] | undefined;
  let settled: readonly AskedSource[] | undefined;

  const start = ({ follower, host }: Member, now: number): void => {
    const { name } = follower;
    const until = host === undefined ? undefined : hosts.take(host, now);
    if (until !== undefined) return void waiting.set(name, until);
    waiting.delete(name);
    const poll = (): Promise<void> => (stop.signal.aborted ? Promise.resolve() : follower.poll(now));
    const work = host === undefined ? poll() : placed((hold) => hosts.run(host, hold), poll, placeMs);
    running.set(
      name,
      work.finally(() => running.delete(name)),
    );
  };
  const dueAt = ({ follower }: Member): number =>
    running.has(follower.name) ? Infinity : Math.max(follower.dueAt(), waiting.get(follower.name) ?? 0);
  return {
    want(next) {
      const names = (list: readonly AskedSource[]): string =>
        JSON.stringify(list.map(({ name }) => name).sort());
      if (asked === undefined || names(next) !== names(asked)) asked = next;
    },
    async older(name, commit) {
      const member = members.list().find(({ follower }) => follower.name === name);
      if (member === undefined)
        return { kind: 'failed', state: 'Unreachable', message: `there is no repository ${name}` };
      const opened = await member.follower.older(commit);
      return opened.kind === 'failed' ? opened : opened.tree;
    },
    async refresh(now) {
      if (asked !== undefined && settled !== asked) await members.settle((settled = asked));
      // Who has waited longest comes first, so that nobody waits for ever.
      const due = members.list().filter((member) => dueAt(member) <= now && !stop.signal.aborted);
      for (const member of due.sort((a, b) => a.follower.dueAt() - b.follower.dueAt())) start(member, now);
      await allOrGrace([...running.values()], { graceMs, onLate: onHint, signal: stop.signal });
      return members.list().map((member) => viewOf(member, waiting.get(member.follower.name)));
    },
    nextDue: () => (settled === asked ? Math.min(...members.list().map(dueAt)) : 0),
    async close() {
      stop.abort();
      await members.close();
      await Promise.all(running.values());
    },
  };
}

/** Resolves when the work is done; a remote that hangs keeps its place only for a while, so it holds up no other one. */
function placed(
  limit: (hold: () => Promise<void>) => Promise<void>,
  work: () => Promise<void>,
  placeMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    void limit(async () => {
      const done = new AbortController();
      const all = work().finally(() => done.abort());
      void all.then(resolve, resolve);
      await delay(placeMs, undefined, { signal: done.signal }).catch(() => undefined);
    });
  });
}

const HOST_LIMITS: HostLimits = {
  connections: limits.hostConnections,
  requestsPerMinute: limits.hostRequestsPerMinute,
};

function viewOf({ follower, host }: Member, until: number | undefined): SourceView {
  const view = follower.view();
  if (until === undefined) return view;
  return { ...view, note: `waiting for the budget of ${host ?? ''} until ${new Date(until).toISOString()}` };
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
