/** Follows one repository: polls it, fetches what is new, and keeps what is known about it. */
import { join } from 'node:path';
import pLimit from 'p-limit';
import { makeRecord } from './accepted.ts';
import { makeAccess, type Access } from './access.ts';
import { chooseDriver, type Choice, type GitUsable } from './choose.ts';
import type { GitProgram } from './command.ts';
import type { GitDriver, Opened } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import type { Quota } from './folder.ts';
import { makeIsomorphic } from './isomorphic.ts';
import { corrupted, lastOf, settled, UNKNOWN, type Known } from './known.ts';
import { makeLocal } from './local.ts';
import { lookOnce } from './look.ts';
import { makeMirror } from './native.ts';
import type { Remote } from './remote.ts';
import { leaveFor, mirrorName, type Readable } from './settings.ts';
import type { SourceView } from './source.ts';
import { joining, makeSubmodules, type Submodules } from './submodules.ts';
import { makeTipReader } from './tips.ts';

export interface Follower {
  readonly name: string;
  view(): SourceView;
  /** When it should be polled again, ms. */
  dueAt(): number;
  hint(): void;
  /** Polls once. Never rejects: what goes wrong is a state. */
  poll(now: number): Promise<void>;
  /** Another commit of the repository than the one in force. */
  older(commit: string): Promise<Opened | Failure>;
  close(): Promise<void>;
}

export interface FollowOptions {
  readonly git: GitProgram;
  readonly usable: GitUsable;
  /** Folder for mirrors. */
  readonly folder: string;
  readonly quota: Quota;
  readonly random: () => number;
  readonly meter: Meter;
  /** Every configured repository: their content may be joined where others have them as submodules. */
  readonly configured: readonly Readable[];
}

/** Hears what a host is asked, and what it asks for. */
export interface Meter {
  /** More requests than the one of a poll. */
  asked(requests: number): void;
  /** The host wants to be left alone until then, ms. */
  quiet(until: number): void;
}

/** Requests of a fetch: what there is, and the pack. */
const FETCH_REQUESTS = 2;

/** Makes a repository ready to be polled. Nothing is asked of a remote yet. */
export async function follow(readable: Readable, options: FollowOptions): Promise<Follower> {
  const { settings, remote, credentials, ref, range } = readable;
  const { git, random, meter } = options;
  const keys = join(options.folder, KEYS, mirrorName(readable));
  const access = makeAccess({ credentials, environment: git.environment, folder: keys });
  const choice = chooseDriver(settings.driver ?? 'auto', options.usable, remote.kind);
  const own = await makeDriver(readable, { choice, access }, options);
  const joins = choice.kind === 'driver' && choice.driver === 'native';
  const driver = joins ? joining(own, submodulesOf(readable, access, options)) : own;
  const tips = makeTipReader({ git, remote, access, ref, range, onQuiet: (until) => meter.quiet(until) });
  const rewrites = settings.nonFastForward ?? 'allow';
  const record = makeRecord(join(options.folder, `${mirrorName(readable)}.accepted`), rewrites === 'refuse');
  const accepted = await record.read();
  /** A mirror is worked in by one at a time. */
  const turn = pLimit(1);
  let hinted = false;
  let known: Known = UNKNOWN;

  const look = async (now: number): Promise<void> => {
    const lookAt = {
      ...{ driver, tips, ref, rewrites },
      onFetch: () => meter.asked(FETCH_REQUESTS),
      last: lastOf(known, { accepted, now }),
      corrupt: (message: string) => void (known = corrupted(known, now, access.redact(message))),
    };
    const found = await lookOnce(lookAt).catch(unexpected);
    if (found.kind === 'failed' && found.state === 'AuthFailed') access.refused();
    const safe = found.kind === 'failed' ? { ...found, message: access.redact(found.message) } : found;
    known = settled(known, safe, { now, settings, random: random() });
    if (found.kind === 'opened') await record.write(found.tree.commit.id);
  };
  return {
    name: settings.name,
    view: () => viewOf(readable, choice, known),
    dueAt: () => (hinted || (driver.damaged() && known.failures === 0) ? 0 : known.dueAt),
    hint: () => void (hinted = true),
    poll: (now) => {
      // Before the ref is read: a hint that comes later is about something that this poll may have missed.
      hinted = false;
      return turn(() => look(now));
    },
    older: (commit) => turn(() => driver.older(commit, ref).catch(unexpected)),
    async close() {
      tips.close();
      await driver.close();
      // whoever closes this removes its folders next
      await turn(() => undefined);
      await access.close();
    },
  };
}

/** Folder of keys beside the mirrors: no mirror has this name. */
export const KEYS = '.keys';

async function makeDriver(
  readable: Readable,
  { choice, access }: { readonly choice: Choice; readonly access: Access },
  { git, folder, quota }: FollowOptions,
): Promise<GitDriver> {
  const { settings, remote } = readable;
  const { name } = settings;
  if (choice.kind === 'none') return absentDriver(choice.problem);
  if (remote.kind === 'local') return makeLocal({ git, name, path: remote.path, driver: choice.driver });
  const mirror = join(folder, mirrorName(readable));
  return choice.driver === 'isomorphic' && remote.kind === 'http'
    ? makeIsomorphic({ git, name, remote, access, quota, folder: `${mirror}.iso` })
    : makeMirror({ git, name, remote, access, quota, folder: mirror });
}

/** Content of submodules lies beside the mirror, each in one of its own. */
function submodulesOf(readable: Readable, access: Access, options: FollowOptions): Submodules {
  const { git, folder, quota, configured } = options;
  const { name } = readable.settings;
  const beside = join(folder, mirrorName(readable));
  const keys = join(folder, KEYS, mirrorName(readable));
  const driverOf = async (remote: Remote, key: string): Promise<GitDriver | undefined> => {
    const leave = leaveFor(remote, readable, configured);
    if (leave === undefined) return undefined;
    if (remote.kind === 'local') return makeLocal({ git, name, path: remote.path });
    const credentials = leave === 'own' ? undefined : leave;
    const entry =
      credentials === undefined
        ? access
        : makeAccess({ credentials, environment: git.environment, folder: join(keys, key) });
    return makeMirror({ git, name, remote, access: entry, quota, folder: `${beside}.sub-${key}` });
  };
  return makeSubmodules({ git, remote: readable.remote, file: join(keys, 'gitmodules'), driverOf });
}

/** Nobody can read this repository here. */
const absentDriver = (problem: string): GitDriver => ({
  fetch: () => Promise.resolve(failed('Unreachable', problem)),
  open: () => Promise.resolve(failed('Unreachable', problem)),
  older: () => Promise.resolve(failed('Unreachable', problem)),
  descends: () => Promise.resolve('unknown'),
  damaged: () => false,
  close: () => Promise.resolve(),
});

const unexpected = (error: unknown): Failure =>
  failed('Unreachable', error instanceof Error ? error.message : String(error));

const viewOf = ({ settings, remote, ref, of }: Readable, choice: Choice, known: Known): SourceView => ({
  name: settings.name,
  url: remote.url,
  ref: known.tree?.ref ?? ref,
  ...(of === undefined ? {} : { of }),
  trust: settings.trust,
  manifests: settings.manifests,
  state: known.state,
  ...(choice.kind === 'driver' ? { driver: choice.driver } : {}),
  since: known.since,
  checkedAt: known.checkedAt,
  ...(known.message === undefined ? {} : { message: known.message }),
  ...(known.moved === undefined ? {} : { moved: known.moved }),
  ...(known.mended === undefined ? {} : { mended: known.mended }),
  ...(known.tree === undefined ? {} : { tree: known.tree }),
});
