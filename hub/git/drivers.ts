/** The driver of one repository, with all that its trees are joined from: submodules, and what Git LFS keeps. */
import { join } from 'node:path';
import { makeAccess, type Access } from './access.ts';
import type { Choice } from './choose.ts';
import type { GitProgram } from './command.ts';
import type { GitDriver } from './driver.ts';
import { failed } from './failure.ts';
import type { Quota } from './folder.ts';
import type { LfsUsable } from './gitlfs.ts';
import { makeIsomorphic } from './isomorphic.ts';
import { makeLarge, refusing, withLargeFiles } from './large.ts';
import { makeLocal } from './local.ts';
import { makeMirror } from './native.ts';
import type { Remote } from './remote.ts';
import { leaveFor, lfsLeave, mirrorName, type Readable } from './settings.ts';
import { joining, makeSubmodules, type Submodules } from './submodules.ts';

export interface DriverOptions {
  readonly git: GitProgram;
  readonly lfs: LfsUsable;
  /** Folder for mirrors. */
  readonly folder: string;
  readonly quota: Quota;
  /** Every configured repository: their content may be joined where others have them as submodules. */
  readonly configured: readonly Readable[];
}

export interface DriverMeans {
  readonly choice: Choice;
  readonly access: Access;
  /** Hears of each content that Git LFS is asked for. */
  readonly onLarge: () => void;
}

/** Folder of keys beside the mirrors: no mirror has this name. */
export const KEYS = '.keys';

/** Everything of a driver and of those beside it. */
interface Making extends DriverOptions, DriverMeans {
  readonly readable: Readable;
}

/** Nothing is asked of a remote yet. */
export async function makeDriver(
  readable: Readable,
  means: DriverMeans,
  options: DriverOptions,
): Promise<GitDriver> {
  const making = { ...options, ...means, readable };
  const own = await ownDriver(making);
  const joins = means.choice.kind === 'driver' && means.choice.driver === 'native';
  return joins ? joining(own, submodulesOf(making)) : own;
}

async function ownDriver(making: Making): Promise<GitDriver> {
  const { readable, choice, access, git, folder, quota } = making;
  const { settings, remote } = readable;
  const { name } = settings;
  if (choice.kind === 'none') return absentDriver(choice.problem);
  if (remote.kind === 'local') return makeLocal({ git, name, path: remote.path, driver: choice.driver });
  const mirror = join(folder, mirrorName(readable));
  if (choice.driver === 'native' || remote.kind !== 'http')
    return mirrorOf(making, { remote, access, folder: mirror });
  const driver = await makeIsomorphic({ git, name, remote, access, quota, folder: `${mirror}.iso` });
  return withLargeFiles(driver, () => Promise.resolve(refusing(NEEDS_GIT)));
}

const NEEDS_GIT =
  'this repository is read without the git program (driver isomorphic), by which alone Git LFS is asked; install git ' +
  'and git-lfs where the hub runs, or take the file out of LFS';

interface MirrorPlace {
  readonly remote: Exclude<Remote, { readonly kind: 'local' }>;
  readonly access: Access;
  readonly folder: string;
}

/** A mirror; what Git LFS keeps for it lies beside it. */
async function mirrorOf(making: Making, place: MirrorPlace): Promise<GitDriver> {
  const { readable, git, lfs, quota, configured, onLarge } = making;
  const driver = await makeMirror({ git, name: readable.settings.name, quota, ...place });
  if (lfs.kind === 'unusable')
    return withLargeFiles(driver, () => Promise.resolve(refusing(withoutLfs(lfs))));
  const keys = join(making.folder, KEYS, mirrorName(readable), 'lfs');
  const large = makeLarge({
    ...{ git, quota, ...place },
    folder: `${place.folder}.lfs`,
    file: join(keys, 'lfsconfig'),
    leave: (url) => lfsLeave(url, { ...readable, remote: place.remote }, configured),
    accessFor: (credentials) => makeAccess({ credentials, environment: git.environment, folder: keys }),
    onFetch: onLarge,
  });
  return withLargeFiles(driver, large.of, large.close);
}

const withoutLfs = ({ problem }: LfsUsable & { readonly kind: 'unusable' }): string =>
  `${problem} where the hub runs: install git-lfs there and start the hub again, or take the file out of LFS`;

/** Content of submodules lies beside the mirror, each in one of its own. */
function submodulesOf(making: Making): Submodules {
  const { readable, access, git, folder, configured } = making;
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
    return mirrorOf(making, { remote, access: entry, folder: `${beside}.sub-${key}` });
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
