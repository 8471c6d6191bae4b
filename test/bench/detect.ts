/**
 * What change detection costs: `node test/bench/detect.ts [--json] [--check] [--stacks 10000]`. Ends with 1 when it could
 * not measure, and with `--check` also when a figure misses its bar.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { atEnd, type Owner } from '../harness/owned.ts';
import { serveGit } from '../harness/serve.ts';
import { tempFolder } from '../harness/temp.ts';
import { commitTo, filesOf, folderOfStack, initRepository } from './detect/estate.ts';
import { detectJson, detectText, missedBars, type DetectFigures, type Scale } from './detect/figures.ts';
import { measurePolls } from './detect/noop.ts';
import { comparePeers } from './detect/peers.ts';
import { measureCommits } from './detect/scale.ts';

const OPTIONS = {
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  stacks: { type: 'string', default: '10000' },
  part: { type: 'string' },
} as const;
const SELF = import.meta.filename;
const CLUSTERS = 5;
/** Stacks that use the library that is changed. */
const SHARING = 100;
const POLLS = 200;

/** Written beside the result, so that standard output holds nothing else. */
const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function measure(owner: Owner, stacks: number): Promise<DetectFigures> {
  const folder = await tempFolder(owner, 'detect');
  const sizes = [stacks / 100, stacks / 10, stacks].map(Math.round).filter((size) => size > 0);
  const scales: Scale[] = [];
  for (const size of sizes) {
    say(`${size} stacks on ${CLUSTERS} clusters`);
    scales.push(await measureScale(join(folder, String(size)), size));
  }
  say('polls that find nothing new');
  const noop = await measureNoop(owner, join(folder, String(stacks)));
  const largest = scales.at(-1);
  if (largest === undefined) throw new Error('nothing was measured');
  say('a workspace of 500 packages, beside other tools');
  const compared = await comparePeers(owner, say);
  return {
    ...largest,
    noopPoll: noop,
    growth: scales.map(({ oneStack }, n) => ({ stacks: sizes[n] ?? 0, seconds: oneStack.seconds })),
    ...compared,
  };
}

async function measureScale(folder: string, stacks: number): Promise<Scale> {
  await mkdir(folder, { recursive: true });
  const repository = join(folder, 'repository.git');
  await initRepository(repository);
  const before = await commitTo(
    repository,
    'first',
    filesOf({ stacks, clusters: CLUSTERS, sharing: Math.min(SHARING, stacks) }),
  );
  const lines = await linesOf(['--part', 'commits', folder, String(stacks)]);
  const scale = JSON.parse(lines.at(-1) ?? '') as Omit<Scale, 'floorSeconds'>;
  return { ...scale, floorSeconds: await diffTree(repository, before) };
}

/** git's own comparison of two commits, from the start of its process to its end. */
async function diffTree(repository: string, from: string): Promise<number> {
  await commitTo(repository, 'floor', [{ path: `${folderOfStack(0)}/src/a.ts`, content: 'export {};\n' }]);
  const started = performance.now();
  const args = ['-C', repository, 'diff-tree', '-r', '-z', '--no-renames', '--raw', from, 'refs/heads/main'];
  const child = spawn('git', args, { stdio: 'ignore' });
  await once(child, 'close');
  return (performance.now() - started) / 1_000;
}

async function measureNoop(owner: Owner, folder: string): Promise<DetectFigures['noopPoll']> {
  const repository = join(folder, 'repository.git');
  const server = await serveGit(owner, { folder: repository });
  const child = spawn(
    process.execPath,
    [SELF, '--part', 'polls', server.url, join(folder, 'polled'), String(POLLS)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  atEnd(owner, () => void child.kill());
  let before = 0;
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    if (line !== 'ready') continue;
    before = server.requests.length;
    child.stdin.write('go\n');
  }
  const { cpuMs, processes } = JSON.parse(last) as { cpuMs: number; processes: number };
  return { cpuMs, processes, requests: (server.requests.length - before) / POLLS };
}

async function linesOf(args: readonly string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, [SELF, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  if (child.exitCode !== 0 && (await once(child, 'close'))[0] !== 0)
    throw new Error(`${args[0] ?? ''} ended with ${child.exitCode ?? 'a signal'}`);
  return lines;
}

/** What is measured in a process of its own; its result is the last line that it prints. */
const PARTS: Readonly<Record<string, (args: readonly string[]) => Promise<unknown>>> = {
  commits: ([folder = '', stacks = '']) => measureCommits(folder, Number(stacks)),
  polls: ([url = '', folder = '', polls = '']) =>
    measurePolls({ url, folder, polls: Number(polls) }, async () => {
      process.stdout.write('ready\n');
      await once(process.stdin, 'data');
    }),
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const part = PARTS[values.part ?? ''];
  if (part !== undefined) {
    process.stdout.write(`${JSON.stringify(await part(positionals))}\n`);
    return 0;
  }
  await using releases = new AsyncDisposableStack();
  const owner: Owner = { after: (release) => releases.defer(release) };
  try {
    const figures = await measure(owner, Number(values.stacks));
    process.stdout.write(values.json ? `${detectJson(figures)}\n` : detectText(figures));
    say(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
    return values.check && missedBars(figures).length > 0 ? 1 : 0;
  } catch (error) {
    say(`nothing was measured: ${(error as Error).message}`);
    return 1;
  }
}

process.exit(await main());
