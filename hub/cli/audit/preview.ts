/** Runs a preview of a project and notes what its programs look at. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardEnvironment, guardFolder, guardPlan } from '../../../shared/guard.ts';
import type { Surroundings } from '../../../shared/surroundings.ts';
import { findingsOf, fromGuard, tidied, type Finding } from './findings.ts';
import { readTrace, STRACE_FLAGS } from './trace.ts';

/** `strace` sees every program; `guard` only those of Node.js and Python, wherever they run. */
export const TRACERS = ['strace', 'guard'] as const;
export type Tracer = (typeof TRACERS)[number];

export interface Subject {
  /** Folder of Pulumi.yaml. */
  readonly folder: string;
  readonly pulumi: string;
  /** Undefined: the selected one. */
  readonly stack: string | undefined;
  /** Of the repository. */
  readonly root: string;
  readonly surroundings: Surroundings;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Looked {
  readonly exit: number | undefined;
  readonly findings: readonly Finding[];
}

/** Whether strace is there and may trace. */
export async function hasStrace(environment: Subject['environment']): Promise<boolean> {
  return (await run(['strace', '-o', '/dev/null', 'true'], { environment, quiet: true })) === 0;
}

/** Whether the Pulumi CLI is there. */
export async function canStart({ pulumi, folder, environment }: Subject): Promise<boolean> {
  return (await run([pulumi, 'version'], { environment, cwd: folder, quiet: true })) !== undefined;
}

/** Previews once. What Pulumi prints goes to standard error. */
export async function preview(subject: Subject, tracer: Tracer): Promise<Looked> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-audit-'));
  try {
    return await (tracer === 'strace' ? traced(subject, folder) : guarded(subject, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const commandOf = ({ pulumi, stack }: Subject): [string, ...string[]] => [
  pulumi,
  'preview',
  '--non-interactive',
  ...(stack === undefined ? [] : ['--stack', stack]),
];

async function traced(subject: Subject, folder: string): Promise<Looked> {
  const prefix = 'trace';
  const command = ['strace', ...STRACE_FLAGS, '-o', join(folder, prefix), ...commandOf(subject)] as const;
  const exit = await run([...command], { environment: subject.environment, cwd: subject.folder });
  const files = new Map<number, string>();
  for (const name of await readdir(folder))
    files.set(Number(name.slice(prefix.length + 1)), await readFile(join(folder, name), 'latin1'));
  const root = await realpath(subject.root);
  const asked = readTrace(files, await realpath(subject.folder));
  return { exit, findings: findingsOf(asked, { root, surroundings: subject.surroundings }) };
}

async function guarded(subject: Subject, folder: string): Promise<Looked> {
  const { root, surroundings, environment } = subject;
  const report = join(folder, 'report');
  const plan = join(folder, 'plan.json');
  const noPresent = (): readonly string[] => [];
  const roots = [root, await realpath(root)];
  await writeFile(report, '');
  await writeFile(plan, JSON.stringify({ ...guardPlan(surroundings, roots, noPresent), report }));
  const guard = guardEnvironment(guardFolder(), plan, environment);
  const exit = await run(commandOf(subject), {
    environment: { ...environment, ...guard },
    cwd: subject.folder,
  });
  const lines = (await readFile(report, 'utf8')).split('\n').filter((line) => line !== '');
  const found = lines.map((line) => fromGuard(JSON.parse(line) as Parameters<typeof fromGuard>[0]));
  return { exit, findings: tidied(found) };
}

interface Where {
  readonly environment: Subject['environment'];
  readonly cwd?: string;
  readonly quiet?: boolean;
}

/** The exit code; undefined when it could not be started, or was ended by a signal. */
async function run(
  [program, ...args]: readonly [string, ...string[]] | string[],
  { environment, cwd, quiet = false }: Where,
): Promise<number | undefined> {
  const output = quiet ? 'ignore' : 2;
  const child = spawn(program ?? '', args, {
    env: { ...environment },
    cwd,
    stdio: ['ignore', output, output],
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? undefined;
  } catch {
    return undefined;
  }
}
