/** Builds the part that carries out runs; what it does is in prepare.ts, finish.ts and sweep.ts. */
import { dirname, resolve } from 'node:path';
import { limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import { makeArtifactStore, type FetchArtifact } from './artifacts.ts';
import type { Context } from './context.ts';
import { installEnvironment } from './dependencies/environment.ts';
import { findPrograms, versionsOf } from './dependencies/programs.ts';
import type { Executor } from './executor.ts';
import { finish } from './finish.ts';
import { foldersOf, makeFolders, type RunUser } from './folders.ts';
import { layGuard } from './poison.ts';
import { prepare } from './prepare.ts';
import { pulumiVersion } from './pulumi/version.ts';
import type { Graces } from './runner/stop.ts';
import { cleanup, sweep } from './sweep.ts';

export interface ExecutorOptions {
  /** Folder of the agent's own; what is in it is listed in folders.ts. */
  readonly dataDir: string;
  /** Full path of the Pulumi CLI. */
  readonly pulumi: string;
  /** Folders of PATH for runs and installs; the node that this agent runs on comes before them. */
  readonly path: readonly string[];
  /** The agent's own environment: runs see only what the allow-list names, installs npm's settings and proxies. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables of it that orders may use. */
  readonly allowEnv: readonly string[];
  /** Files, or folders with all that is in them, that orders may use. */
  readonly allowFiles: readonly string[];
  /** Runs are started as this user; possible when the agent is root. */
  readonly runUser?: RunUser;
  /** Stored bytes of an artifact. Rejects when they are not to be had now. */
  readonly fetchArtifact: FetchArtifact;
  readonly log: Log;
  /** Called with the name of each step when it is done; a test ends the process there. */
  readonly at?: (step: string) => void | Promise<void>;
  /** How long a stop waits; the default is in limits.ts. */
  readonly graces?: Graces;
}

/** Starts `pulumi version` once; throws when there is no such program. Makes its folders at the first use. */
export function makeExecutor(options: ExecutorOptions): Executor {
  const context = contextOf(options);
  let made: Promise<unknown> | undefined;
  const ready = async (): Promise<Context> => {
    await (made ??= layOwn(context));
    return context;
  };
  return {
    toolchain: context.toolchain,
    prepare: async (job, signal) => prepare(await ready(), job, signal),
    finish: async (attempt, order, follow) => finish(await ready(), { attempt, order, ...follow }),
    sweep: async (known) => sweep(await ready(), known),
    cleanup: async (runId) => cleanup(await ready(), runId),
  };
}

/** Before the first run. */
async function layOwn({ dataDir, folders, user, log }: Context): Promise<void> {
  await makeFolders(dataDir, user);
  await layGuard(folders.guard);
  if (process.getuid?.() === 0 && user === undefined)
    log.warn(
      'runs have the rights of root, whom modes do not bind: only programs of Node.js and Python are kept from files that their stack did not declare; give runs a user of their own',
    );
}

function contextOf(options: ExecutorOptions): Context {
  const { environment, allowEnv, allowFiles, runUser: user, log, at } = options;
  const dataDir = resolve(options.dataDir);
  const folders = foldersOf(dataDir);
  const path = [...new Set([dirname(process.execPath), ...options.path, dirname(options.pulumi)])];
  const programs = findPrograms(path);
  return {
    dataDir,
    folders,
    path,
    user,
    log,
    pulumi: options.pulumi,
    sources: { environment, allowEnv, allowFiles },
    artifacts: makeArtifactStore(folders.artifacts, options.fetchArtifact),
    install: {
      programs,
      path,
      user,
      home: environment['HOME'],
      environment: installEnvironment(environment),
      caches: { npm: folders.npm, pnpm: folders.pnpm, yarn: folders.yarn, pip: folders.pip },
    },
    toolchain: {
      pulumi: pulumiVersion(options.pulumi),
      node: process.version,
      ...versionsOf(programs),
    },
    graces: options.graces ?? { firstMs: limits.stopGraceMs, secondMs: limits.stopSecondGraceMs },
    gates: new Map(),
    at: async (step) => at?.(step),
  };
}
