/** Follows one repository: polls it, fetches what is new, and keeps what is known about it. */
import { join } from 'node:path';
import pLimit from 'p-limit';
import { makeRecord } from './accepted.ts';
import { makeAccess } from './access.ts';
import { chooseDriver, type Choice, type GitUsable } from './choose.ts';
import type { GitProgram } from './command.ts';
import type { Opened } from './driver.ts';
import { KEYS, makeDriver } from './drivers.ts';
import { failed, type Failure } from './failure.ts';
import type { Quota } from './folder.ts';
import type { LfsUsable } from './gitlfs.ts';
import { corrupted, lastOf, settled, UNKNOWN, type Known } from './known.ts';
import { lookOnce } from './look.ts';
import { mirrorName, type Readable } from './settings.ts';
import type { SourceView } from './source.ts';
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
  readonly lfs: LfsUsable;
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
/** Requests for a content of Git LFS: where it is, and the content. */
const LFS_REQUESTS = 2;

/** Makes a repository ready to be polled. Nothing is asked of a remote yet. */
export async function follow(readable: Readable, options: FollowOptions): Promise<Follower> {
  const { settings, remote, credentials, ref, range } = readable;
  const { git, random, meter } = options;
  const keys = join(options.folder, KEYS, mirrorName(readable));
  const access = makeAccess({ credentials, environment: git.environment, folder: keys });
  const choice = chooseDriver(settings.driver ?? 'auto', options.usable, remote.kind);
  const onLarge = (): void => meter.asked(LFS_REQUESTS);
  const driver = await makeDriver(readable, { choice, access, onLarge }, options);
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
