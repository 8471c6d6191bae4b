/** The sources that are followed: those of the settings, and those at refs that stacks ask for, which come and go. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KEYS } from './drivers.ts';
import { follow, type Follower, type FollowOptions } from './follow.ts';
import type { Hosts } from './hosts.ts';
import { hostOf } from './remote.ts';
import { atRef, mirrorName, readSettings, type Readable } from './settings.ts';
import type { AskedSource, RepositorySettings, SourceView } from './source.ts';
import { watchRef, type Watch } from './watch.ts';

export interface Member {
  readonly follower: Follower;
  /** Undefined for a path on this machine. */
  readonly host: string | undefined;
}

export interface Members {
  /** In the order of the settings, then by name. */
  list(): readonly Member[];
  /** Follows what is asked for, and lets go of what is not. */
  settle(asked: readonly AskedSource[]): Promise<void>;
  close(): Promise<void>;
}

export interface MembersOptions extends Omit<FollowOptions, 'meter' | 'configured'> {
  readonly hosts: Hosts;
  /** A watched ref on this machine moved. */
  readonly onHint: () => void;
}

interface Kept extends Member {
  readonly readable: Readable;
  readonly watch: Watch | undefined;
}

/** Follows the configured repositories. Mirrors of others go, but for those that stacks may ask for again. */
export async function makeMembers(readable: readonly Readable[], given: MembersOptions): Promise<Members> {
  const options = { ...given, configured: readable };
  const { folder } = options;
  await mkdir(folder, { recursive: true });
  const names = new Set(readable.map(({ settings }) => settings.name));
  await rm(join(folder, KEYS), { recursive: true, force: true });
  await removeUnused(folder, readable, (name) => names.has(/^([^_]*)_/.exec(name)?.[1] ?? ''));
  const own = await Promise.all(readable.map((one) => start(one, options)));
  const settings = new Map(readable.map((one) => [one.settings.name, one.settings]));
  const asked = new Map<string, Kept>();
  return {
    list: () => [...own, ...[...asked].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, member]) => member)],
    async settle(wanted) {
      const names = new Set(wanted.map(({ name }) => name));
      const gone = [...asked].filter(([name]) => !names.has(name));
      for (const [name] of gone) asked.delete(name);
      await Promise.all(gone.map(([, member]) => end(member)));
      const fresh = wanted.filter(({ name }) => !asked.has(name)).flatMap((one) => readAsked(one, settings));
      const begun = await Promise.all(
        fresh.map((one) => {
          const same = own.find(
            ({ readable: { settings, ref } }) => settings.name === one.of && ref === one.ref,
          );
          return same === undefined ? start(one, options) : Promise.resolve(aliasOf(same, one));
        }),
      );
      for (const member of begun) asked.set(member.follower.name, member);
      await removeUnused(folder, [...readable, ...[...asked.values()].map((one) => one.readable)]);
    },
    async close() {
      await Promise.all([...own, ...asked.values()].map(end));
    },
  };
}

/** Of a repository that is not configured there is nothing to follow. */
function readAsked(
  { repository, ref, name }: AskedSource,
  settings: ReadonlyMap<string, RepositorySettings>,
): Readable[] {
  const of = settings.get(repository);
  const read = of === undefined ? '' : readSettings(atRef(of, ref, name));
  return typeof read === 'string' ? [] : [{ ...read, of: repository }];
}

async function start(
  readable: Readable,
  options: MembersOptions & Pick<FollowOptions, 'configured'>,
): Promise<Kept> {
  const { hosts, onHint, ...rest } = options;
  const host = hostOf(readable.remote);
  const meter = {
    asked: (requests: number): void => void (host !== undefined && hosts.charge(host, requests)),
    quiet: (until: number): void => void (host !== undefined && hosts.quiet(host, until)),
  };
  const follower = await follow(readable, { ...rest, meter });
  return { readable, follower, host, watch: await watchLocal(readable, follower, onHint) };
}

/** The ref that a repository is watched at anyway is not fetched twice. */
function aliasOf({ follower }: Kept, readable: Readable): Kept {
  const { name, trust, manifests } = readable.settings;
  const view = (): SourceView => {
    const { tree, ...rest } = follower.view();
    const own = { ...rest, name, trust, manifests, of: follower.name };
    return tree === undefined ? own : { ...own, tree: { ...tree, repository: name } };
  };
  const nothing = (): Promise<void> => Promise.resolve();
  const alias: Follower = {
    ...{ name, view, dueAt: () => Infinity, hint: () => undefined, poll: nothing, close: nothing },
    async older(commit) {
      const opened = await follower.older(commit);
      return opened.kind === 'failed' ? opened : { ...opened, tree: { ...opened.tree, repository: name } };
    },
  };
  return { readable, follower: alias, host: undefined, watch: undefined };
}

async function end({ follower, watch }: Kept): Promise<void> {
  watch?.close();
  await follower.close();
}

/** Mirrors that nothing needs. `spared`: they may be needed all the same. */
async function removeUnused(
  folder: string,
  readable: readonly Readable[],
  spared: (name: string) => boolean = () => false,
): Promise<void> {
  const used = new Set(readable.map(mirrorName));
  for (const name of await readdir(folder))
    if (
      name !== KEYS &&
      !used.has(name.replace(/(?:\.(?:iso|new|old|past|process|accepted|lfs|sub-[0-9a-f]+))+$/, '')) &&
      !spared(name)
    )
      await rm(join(folder, name), { recursive: true, force: true });
}

async function watchLocal(
  { remote, ref, range }: Readable,
  follower: Follower,
  onHint: () => void,
): Promise<Watch | undefined> {
  if (remote.kind !== 'local' || range !== undefined) return undefined;
  return watchRef(remote.path, ref, () => {
    follower.hint();
    onHint();
  });
}
