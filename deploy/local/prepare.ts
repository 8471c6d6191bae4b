/** Everything that a fleet is started with: the repository, its ref, free ports, the programs. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tools } from '../tools/find.ts';
import { makeSample, type SampleRepository } from './demo/repository.ts';
import { STEPS } from './demo/script.ts';
import { foldersOf } from './folders.ts';
import { defaultBranch, findRepository, freePort } from './input.ts';
import { emptyForDemo } from './place.ts';
import type { Setup } from './programs.ts';
import { withinReach } from './reach.ts';
import type { LocalValues } from './settings.ts';

/** A look at a repository on this machine costs a file read. */
const LOCAL_INTERVAL = '1s';
const PASSPHRASE = 'PORT_PASSPHRASE';

export interface Wish {
  readonly values: LocalValues;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly isRoot: boolean;
}

export interface Prepared {
  readonly setup: Setup;
  /** Only for the demo: its repository, with the first commit made. */
  readonly demo?: { readonly sample: SampleRepository; readonly sha: string };
}

/** `data` is claimed by this process. Rejects with BadInput. */
export async function prepare(
  { values, environment, cwd, isRoot }: Wish,
  data: string,
  tools: Tools,
): Promise<Prepared> {
  if (values.demo) await emptyForDemo(data);
  const folders = foldersOf(data);
  const own = { pulumi: tools.pulumi, node: process.execPath };
  const { pulumi, node } = isRoot ? await withinReach(own, join(data, 'tools')) : own;
  const common = {
    folders,
    towline: [node, entryFile()] as const,
    natsServer: tools.natsServer,
    pulumi,
    natsPort: await freePort(),
    listen: values.listen || `127.0.0.1:${await freePort()}`,
    environment,
  };
  if (values.demo) return prepareDemo(common, data);
  const found = await findRepository(values.repo, cwd);
  const ref = values.ref || (await defaultBranch(found, environment));
  const repository = { url: found.url, ref, ...(found.local ? { interval: LOCAL_INTERVAL } : {}) };
  const { allowEnv, allowFiles } = values;
  return { setup: { ...common, repository, allowEnv, allowFiles, agentEnvironment: {} } };
}

type Common = Omit<Setup, 'repository' | 'allowEnv' | 'allowFiles' | 'agentEnvironment'>;

/** The sample repository is made, and its first commit with it. */
async function prepareDemo(common: Common, data: string): Promise<Prepared> {
  const sample = await makeSample(join(data, 'repository'), data, common.environment);
  const [first] = STEPS;
  if (first === undefined) throw new Error('the demo has no steps');
  const setup = {
    ...common,
    repository: { url: sample.folder, ref: 'main', interval: LOCAL_INTERVAL },
    allowEnv: [PASSPHRASE],
    allowFiles: [],
    agentEnvironment: { [PASSPHRASE]: 'the tide waits for nobody' },
  };
  return { setup, demo: { sample, sha: await sample.commit(first) } };
}

/** The `towline` command: beside the sources, or beside this bundle. */
const entryFile = (): string =>
  fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../../hub/cli/main.ts' : './towline.js', import.meta.url),
  );
