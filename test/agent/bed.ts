/** What tests of runs share: an executor in a folder of its own, orders with sealed artifacts, two small programs. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pack } from 'tar-stream';
import { makeExecutor, type ExecutorOptions } from '../../agent/execute.ts';
import type { Attempt, Executor, Job, NotReady, Ready, RunEnd } from '../../agent/executor.ts';
import { makeLog } from '../../shared/log.ts';
import { seal, type Sealed } from '../../shared/seal.ts';
import type { Surroundings } from '../../shared/surroundings.ts';
import type { Order, RunInputs, RunPolicy } from '../../shared/wire.ts';
import { plainPolicy } from '../harness/policy.ts';
import type { Owner } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { testTools } from '../harness/tools.ts';

export const PASSPHRASE = 'correct horse battery staple';

export type TreeFiles = Readonly<Record<string, string | { readonly link: string }>>;

/** A tar of files, links and whatever else a header says. */
export async function tarOf(files: TreeFiles): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files))
    if (typeof content === 'string') tar.entry({ name, mtime: new Date(0) }, content);
    else tar.entry({ name, type: 'symlink', linkname: content.link, mtime: new Date(0) });
  tar.finalize();
  return collect(tar);
}

/** Everything that a stream gives. */
export async function collect(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export interface Bed {
  readonly folder: string;
  readonly dataDir: string;
  readonly backendUrl: string;
  readonly executor: Executor;
  readonly options: ExecutorOptions;
  /** Everything that the executor's log wrote. */
  readonly logged: string[];
  /** Steps that were passed. */
  readonly steps: string[];
  /** Another agent on the same data folder, such as one that was started anew. */
  again(change?: Partial<ExecutorOptions>): Executor;
  /** An order for these files, whose artifact can be fetched. */
  order(files: TreeFiles, change?: OrderChange): Promise<Order>;
}

export interface OrderChange {
  readonly inputs?: Partial<RunInputs>;
  readonly policy?: Partial<RunPolicy>;
  /** Of an artifact that is not the whole repository. */
  readonly surroundings?: Surroundings;
}

/** An executor on a local backend of its own. */
export async function makeBed(owner: Owner, change: Partial<ExecutorOptions> = {}): Promise<Bed> {
  const { pulumi } = await testTools();
  const folder = await tempFolder(owner, 'run');
  const backendUrl = `file://${folder}/state`;
  const stored = new Map<string, Buffer>();
  const logged: string[] = [];
  const steps: string[] = [];
  const options: ExecutorOptions = {
    dataDir: join(folder, 'data'),
    pulumi,
    path: (process.env['PATH'] ?? '').split(delimiter),
    environment: { ...process.env, TEST_PASSPHRASE: PASSPHRASE },
    allowEnv: ['TEST_PASSPHRASE'],
    allowFiles: [],
    fetchArtifact: async (ref) => {
      const bytes = stored.get(ref.name);
      if (bytes === undefined) throw new Error('not there yet');
      return bytes;
    },
    log: makeLog({ name: 'test', level: 'trace', destination: { write: (line) => void logged.push(line) } }),
    at: (step) => void steps.push(step),
    ...change,
  };
  await mkdir(join(folder, 'state'), { recursive: true });
  await mkdir(options.dataDir);
  if (options.runUser === undefined)
    await symlink(sharedDependencies(), join(options.dataDir, 'dependencies'));
  return {
    folder,
    dataDir: options.dataDir,
    backendUrl,
    logged,
    steps,
    executor: makeExecutor(options),
    options,
    again: (other = {}) => makeExecutor({ ...options, ...other }),
    order: async (files, wanted = {}) => {
      const sealed = seal(await tarOf(files), SECRET);
      stored.set(sealed.ref.name, sealed.stored);
      return orderOf(sealed, backendUrl, wanted);
    },
  };
}

let shared: string | undefined;

/** One cache of installed dependencies for all beds of a test process: an install costs seconds. */
function sharedDependencies(): string {
  if (shared !== undefined) return shared;
  const folder = mkdtempSync(join(tmpdir(), 'towline-dependencies-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  shared = folder;
  return folder;
}

const SECRET = randomBytes(32);
let gen = 0;

function orderOf({ ref }: Sealed, url: string, change: OrderChange): Order {
  const { inputs = {}, policy = {}, surroundings } = change;
  const { env = [], ...others } = inputs;
  return {
    v: 1,
    gen: ++gen,
    term: 1,
    cluster: 'test',
    stack: { namespace: 'shop', name: 'web' },
    action: 'run',
    inputDigest: `v1:${ref.sha256}`,
    equals: [],
    policyDigest: 'p',
    claim: 'web',
    source: {
      repository: 'fleet',
      ref: 'main',
      commit: 'c'.repeat(40),
      subject: 'A change',
      author: 'A Person',
      time: 0,
      manifest: { repository: 'fleet', path: 'web/stack.yaml', line: 1 },
    },
    artifact: ref,
    inputs: {
      project: '.',
      pulumiStack: 'organization/web/dev',
      backend: { url },
      env: [{ name: 'PULUMI_CONFIG_PASSPHRASE', valueFrom: { env: 'TEST_PASSPHRASE' } }, ...env],
      ...others,
    },
    policy: { ...plainPolicy, timeoutMs: 120_000, ...policy },
    ...(surroundings === undefined ? {} : { surroundings }),
    reasons: [],
    issuedAt: 0,
  };
}

let runs = 0;

/** A job with a run id of its own. */
export const jobOf = (order: Order, change: Partial<Job> = {}): Job => ({
  runId: `run-${process.pid}-${++runs}`,
  order,
  first: true,
  unsure: change.first ?? true,
  ...change,
});

/** A run that was told to go. */
export interface Going {
  readonly attempt: Attempt;
  readonly order: Order;
  readonly ready: Ready;
}

/** Prepares, and lets the update go. Throws when it is not ready. */
export async function start(executor: Executor, job: Job): Promise<Going> {
  const ready = await executor.prepare(job, new AbortController().signal);
  if (ready.kind !== 'ready') throw new Error(`not ready: ${JSON.stringify(ready)}`);
  const gate = await ready.gate();
  const { order, runId } = job;
  const attempt: Attempt = {
    runId,
    gen: order.gen,
    inputDigest: order.inputDigest,
    commit: order.source.commit,
    number: 1,
    process: gate.process,
    startedAt: Date.now(),
    timeoutMs: order.policy.timeoutMs,
  };
  gate.go();
  return { attempt, order, ready };
}

export interface Finished {
  readonly end: RunEnd;
  readonly lines: readonly string[];
}

/** Follows to the end. */
export async function finishRun(executor: Executor, going: Going, stop?: AbortSignal): Promise<Finished> {
  const lines: string[] = [];
  const end = await executor.finish(going.attempt, going.order, {
    output: (more) => void lines.push(...more),
    stop: stop ?? new AbortController().signal,
  });
  return { end, lines };
}

/** A whole run, its folder removed. */
export async function runOnce(executor: Executor, job: Job): Promise<Finished> {
  const finished = await finishRun(executor, await start(executor, job));
  await executor.cleanup(job.runId);
  return finished;
}

/** What keeps a job from being ready. */
export async function notReady(executor: Executor, job: Job): Promise<NotReady> {
  const ready = await executor.prepare(job, new AbortController().signal);
  if (ready.kind === 'ready') throw new Error('it is ready');
  return ready;
}

/** A YAML program without any provider. */
export const yamlProgram = (
  outputs: Readonly<Record<string, string>> = { greeting: 'hello' },
): TreeFiles => ({
  'Pulumi.yaml': `${JSON.stringify({ name: 'web', runtime: 'yaml', outputs })}\n`,
});

const DEMO = join(import.meta.dirname, '../../deploy/local/demo/port/apps');

/** Manifest and lockfile of a program with dynamic resources. */
export const nodeManifests = async (): Promise<Record<string, string>> => ({
  'package.json': await readFile(join(DEMO, 'package.json'), 'utf8'),
  'package-lock.json': await readFile(join(DEMO, 'package-lock.json'), 'utf8'),
});

/** Begins every TypeScript program: `Thing` runs the given body at create and delete, with `inputs` in reach. */
const PRELUDE = `
import * as pulumi from '@pulumi/pulumi';
const config = new pulumi.Config();
class Thing extends pulumi.dynamic.Resource {
  constructor(name: string, inputs: Record<string, pulumi.Input<string>>) {
    super({
      async create(inputs: any) {
        const fs = require('node:fs');
        fs.appendFileSync(inputs.path + '.log', 'create\\\\n');
        if (inputs.wait) await new Promise((resolve) => setTimeout(resolve, Number(inputs.wait)));
        if (inputs.fail) throw new Error(inputs.fail);
        fs.writeFileSync(inputs.path, inputs.content ?? '');
        return { id: inputs.path, outs: inputs };
      },
      async update(_id: string, _old: any, inputs: any) {
        require('node:fs').writeFileSync(inputs.path, inputs.content ?? '');
        return { outs: inputs };
      },
      async delete(id: string) { require('node:fs').rmSync(id, { force: true }); },
    }, name, inputs);
  }
}
`.replaceAll('\\\\', '\\');

/** A TypeScript program whose `Thing`s are files. */
export async function nodeProgram(body: string): Promise<TreeFiles> {
  return {
    'Pulumi.yaml': 'name: web\nruntime: nodejs\nmain: index.ts\n',
    'index.ts': PRELUDE + body,
    ...(await nodeManifests()),
  };
}
