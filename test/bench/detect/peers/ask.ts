/** Puts a question to a tool, in a process of its own, and takes the time. */
import { execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import type { Asking, Question } from './tools.ts';

export interface Told {
  /** From the start of the process to its end. */
  readonly seconds: number;
  readonly answer:
    | { readonly kind: 'names'; readonly names: readonly string[] }
    | { readonly kind: 'none'; readonly why: string };
}

/** What the slowest tool may take for one question, on a machine that does other things besides. */
const PATIENCE_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** `home` is an own home for the tool, so that no settings of a person reach it. Never rejects. */
export async function ask(tool: Asking, question: Question, home: string): Promise<Told> {
  const [program = '', ...args] = tool.command(question);
  const env = {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    CI: 'true',
    GIT_CONFIG_NOSYSTEM: '1',
    ...tool.environment?.(question),
  };
  const options = { cwd: question.repository, env, timeout: PATIENCE_MS, maxBuffer: MAX_BYTES };
  const started = performance.now();
  const ended = await new Promise<Ended>((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : error.message;
      resolve({ code, stdout, stderr });
    });
  });
  return { seconds: (performance.now() - started) / 1_000, answer: answerOf(tool, ended) };
}

interface Ended {
  /** A text when there is none. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function answerOf(tool: Asking, { code, stdout, stderr }: Ended): Told['answer'] {
  const why = (): string => `ended with ${code}: ${(stderr || stdout).trim().slice(-500)}`;
  if (typeof code === 'string' || !tool.codes.includes(code)) return { kind: 'none', why: why() };
  try {
    const names = tool.read(stdout);
    return names === undefined
      ? { kind: 'none', why: `is not complete: ${stdout.slice(-500)}` }
      : { kind: 'names', names };
  } catch {
    return { kind: 'none', why: `printed what is no answer: ${stdout.slice(0, 500)}` };
  }
}
