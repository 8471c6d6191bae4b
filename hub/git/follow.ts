/** Follows one repository: polls it, fetches what is new, and keeps what is known about it. */
import { join } from 'node:path';
import { makeAccess, type Access } from './access.ts';
import type { GitProgram } from './command.ts';
import type { FetchOptions, GitDriver, Opened, Tip } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import { chooseDriver, type Choice, type GitUsable } from './choose.ts';
import { makeIsomorphic } from './isomorphic.ts';
import { makeLocal } from './local.ts';
import { makeMirror } from './native.ts';
import { nextPoll } from './schedule.ts';
import { mirrorName, type Readable } from './settings.ts';
import type { SourceState, SourceView, Tree } from './source.ts';
import { makeTipReader, type TipReader } from './tips.ts';

export interface Follower {
  readonly name: string;
  view(): SourceView;
  /** When it should be polled again, ms. */
  dueAt(): number;
  hint(): void;
  /** A commit that is not the newest; undefined: it is not to be had. */
  older(commit: string): Promise<Tree | undefined>;
  /** Polls once. Never rejects: what goes wrong is a state. */
  poll(now: number): Promise<void>;
  close(): Promise<void>;
}

export interface FollowOptions {
  readonly git: GitProgram;
  readonly usable: GitUsable;
  /** Folder for mirrors. */
  readonly folder: string;
  readonly random: () => number;
}

/** What is known about a repository. */
interface Known {
  readonly state: SourceState;
  readonly since: number;
  readonly checkedAt: number;
  readonly message?: string;
  readonly tree?: Tree;
  /** What the ref pointed at when the tree was read. */
  readonly tip?: string;
  readonly failures: number;
  readonly dueAt: number;
}

/** Makes a repository ready to be polled. Nothing is asked of a remote yet. */
export async function follow(readable: Readable, options: FollowOptions): Promise<Follower> {
  const { settings, remote, credentials, ref } = readable;
  const { git, random } = options;
  const keys = join(options.folder, KEYS, mirrorName(readable));
  const access = makeAccess({ credentials, environment: git.environment, folder: keys });
  const choice = chooseDriver(settings.driver ?? 'auto', options.usable, remote.kind);
  const driver = await makeDriver(readable, { choice, access }, options);
  const tips = makeTipReader({ git, remote, access, ref });
  let hinted = false;
  let known: Known = { state: 'Hydrating', since: 0, checkedAt: 0, failures: 0, dueAt: 0 };

  const settle = (now: number, found: Found): void => {
    if (found.kind === 'failed' && found.state === 'AuthFailed') access.refused();
    const good = found.kind !== 'failed';
    const state = good ? 'Ready' : found.state;
    const failures = good ? 0 : known.failures + 1;
    const patience = !good && found.retryAfterMs !== undefined ? { retryAfterMs: found.retryAfterMs } : {};
    const { name, intervalMs } = settings;
    known = {
      ...(known.tree === undefined ? {} : { tree: known.tree }),
      ...(known.tip === undefined ? {} : { tip: known.tip }),
      ...(found.kind === 'opened' ? { tree: found.tree, tip: found.tip } : {}),
      ...(good ? {} : { message: access.redact(found.message) }),
      state,
      since: state === known.state ? known.since : now,
      checkedAt: now,
      failures,
      dueAt: nextPoll(now, { name, intervalMs, failures, random: random(), ...patience }),
    };
  };
  const corrupt = (now: number, message: string): void => {
    known = {
      ...known,
      state: 'Corrupt',
      since: known.state === 'Corrupt' ? known.since : now,
      checkedAt: now,
      message: access.redact(message),
    };
  };
  return {
    name: settings.name,
    view: () => viewOf(readable, choice, known),
    dueAt: () => (hinted || (driver.damaged() && known.failures === 0) ? 0 : known.dueAt),
    hint: () => void (hinted = true),
    async older(commit) {
      const opened = await driver.open(commit, ref).catch(unexpected);
      return opened.kind === 'opened' && opened.tree.commit.id === commit ? opened.tree : undefined;
    },
    poll: async (now) => {
      // Before the ref is read: a hint that comes later is about something that this poll may have missed.
      hinted = false;
      const last = { tip: known.tree === undefined ? undefined : known.tip, ref };
      settle(
        now,
        await pollOnce({ driver, tips, last, corrupt: (message) => corrupt(now, message) }).catch(unexpected),
      );
    },
    async close() {
      tips.close();
      await driver.close();
      await access.close();
    },
  };
}

/** Folder of keys beside the mirrors: no mirror has this name, so what a killed process left there goes at start. */
const KEYS = '.keys';

async function makeDriver(
  readable: Readable,
  { choice, access }: { readonly choice: Choice; readonly access: Access },
  { git, folder }: FollowOptions,
): Promise<GitDriver> {
  const { settings, remote } = readable;
  const { name } = settings;
  if (choice.kind === 'none') return absentDriver(choice.problem);
  if (remote.kind === 'local') return makeLocal({ git, name, path: remote.path, driver: choice.driver });
  const mirror = join(folder, mirrorName(readable));
  return choice.driver === 'isomorphic' && remote.kind === 'http'
    ? makeIsomorphic({ git, name, remote, access, folder: `${mirror}.iso` })
    : makeMirror({ git, name, remote, access, folder: mirror });
}

/** Nobody can read this repository here. */
const absentDriver = (problem: string): GitDriver => ({
  fetch: () => Promise.resolve(failed('Unreachable', problem)),
  open: () => Promise.resolve(failed('Unreachable', problem)),
  damaged: () => false,
  close: () => Promise.resolve(),
});

const unexpected = (error: unknown): Failure =>
  failed('Unreachable', error instanceof Error ? error.message : String(error));

type Found = Failure | { readonly kind: 'unchanged' } | (Opened & { readonly tip: string });

interface Poll {
  readonly driver: GitDriver;
  readonly tips: TipReader;
  readonly last: { readonly tip: string | undefined; readonly ref: string };
  /** The mirror turned out to be damaged and is made anew now. */
  readonly corrupt: (message: string) => void;
}

async function pollOnce({ driver, tips, last, corrupt }: Poll): Promise<Found> {
  const tip = await tips.tip();
  if (tip.kind === 'failed') return tip;
  const damaged = driver.damaged();
  if (tip.id === last.tip && !damaged) return { kind: 'unchanged' };
  if (damaged) corrupt('an object of the mirror is missing or damaged; reading the repository anew');
  const at = tip.url === undefined ? {} : { url: tip.url };
  const found = await bring(driver, last.ref, { anew: damaged, ...at });
  if (found.kind !== 'failed' || found.state !== 'Corrupt' || damaged) return found;
  corrupt(found.message);
  return bring(driver, last.ref, { anew: true, ...at });
}

async function bring(driver: GitDriver, ref: string, options: FetchOptions): Promise<Found> {
  const fetched: Tip | Failure = await driver.fetch(ref, options);
  if (fetched.kind === 'failed') return fetched;
  const opened = await driver.open(fetched.id, ref);
  return opened.kind === 'failed' ? opened : { ...opened, tip: fetched.id };
}

const viewOf = ({ settings, remote, ref }: Readable, choice: Choice, known: Known): SourceView => ({
  name: settings.name,
  url: remote.url,
  ref,
  trust: settings.trust,
  manifests: settings.manifests,
  state: known.state,
  ...(choice.kind === 'driver' ? { driver: choice.driver } : {}),
  since: known.since,
  checkedAt: known.checkedAt,
  ...(known.message === undefined ? {} : { message: known.message }),
  ...(known.tree === undefined ? {} : { tree: known.tree }),
});
