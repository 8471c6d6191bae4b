/** How lockfiles, and the files beside them that speak of all workspaces, are read and cut. */
import type { ReadLockfile } from '../../lockfiles/lockfile.ts';
import { npmLock } from '../../lockfiles/npm.ts';
import { pnpmLock } from '../../lockfiles/pnpm.ts';
import { cutPnpmWorkspace } from '../../lockfiles/pnpmworkspace.ts';
import { type Cut, cutRootManifest, type CutFile } from '../../lockfiles/rootmanifest.ts';
import { yarnLock } from '../../lockfiles/yarn.ts';
import { nameOf } from '../paths.ts';
import type { Parser } from '../view.ts';

/** By the name of the file. What is not here is taken as a whole. */
const READERS: Readonly<Record<string, Parser<ReadLockfile>>> = {
  'npm-shrinkwrap.json': npmLock,
  'package-lock.json': npmLock,
  'pnpm-lock.yaml': pnpmLock,
  'yarn.lock': yarnLock,
};

/** The parser of a lockfile; undefined for those of package managers that are not known here. */
export const lockfileParser = (path: string): Parser<ReadLockfile> | undefined => READERS[nameOf(path)];

type Cutter = (content: string, cut: Cut) => CutFile;

/** Files in the folder of the lockfile, by name. */
export const CUTTERS: Readonly<Record<string, Cutter>> = {
  'package.json': cutRootManifest,
  'pnpm-workspace.yaml': cutPnpmWorkspace,
};
