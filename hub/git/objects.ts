/** Reads objects through one long-running `git cat-file --batch`. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import pLimit from 'p-limit';
import { limits } from '../../shared/limits.ts';
import type { GitProgram } from './command.ts';

/** `ended`: the process is gone; `killed` when that is no fault of the repository. */
export type Answer =
  | { readonly kind: 'object'; readonly type: string; readonly content: Buffer }
  | { readonly kind: 'missing' }
  | { readonly kind: 'oversized'; readonly size: number }
  | { readonly kind: 'ended'; readonly killed: boolean; readonly stderr: string };

export interface ObjectReader {
  read(id: string): Promise<Answer>;
  close(): Promise<void>;
}

export interface ObjectReaderOptions {
  readonly git: GitProgram;
  readonly env: Readonly<Record<string, string>>;
  /** A process that brings nothing for so long is ended. Default: {@link limits.objectReadMs}. */
  readonly hungMs?: number;
}

/** The process starts with the first read, ends when idle, and starts again; a read that it took along is repeated once. */
export function makeObjectReader(options: ObjectReaderOptions): ObjectReader {
  const limit = pLimit(limits.objectReadsAtOnce);
  let batch: Batch | undefined;
  let closed = false;
  const ask = (name: string): Promise<Answer> => {
    if (closed) return Promise.resolve(CLOSED);
    batch ??= startBatch(options, () => (batch = undefined));
    return batch.ask(name);
  };
  return {
    read: (name) =>
      limit(async () => {
        const first = await ask(name);
        return first.kind === 'ended' && first.killed ? ask(name) : first;
      }),
    async close() {
      closed = true;
      await batch?.close();
    },
  };
}

const CLOSED: Answer = { kind: 'ended', killed: true, stderr: 'the repository was closed' };

interface Batch {
  ask(name: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Bytes of what git writes to standard error that are kept. */
const STDERR_BYTES = 4096;

function startBatch(options: ObjectReaderOptions, gone: () => void): Batch {
  const { git, env, hungMs = limits.objectReadMs } = options;
  const child = spawn(git.program, ['cat-file', '--batch'], { env: { ...env } });
  const waiting: ((answer: Answer) => void)[] = [];
  let stderr = '';
  const idle = setTimeout(() => child.stdin.end(), limits.objectReaderIdleMs).unref();
  /** A read that brings nothing for so long never will. */
  const hung = setInterval(() => {
    if (waiting.length > 0 && !moved) child.kill('SIGKILL');
    moved = false;
  }, hungMs).unref();
  let moved = true;
  const parser = makeParser((answer) => waiting.shift()?.(answer));
  child.stdout.on('data', (chunk: Buffer) => {
    moved = true;
    parser(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-STDERR_BYTES)));
  child.stdin.on('error', () => undefined);
  const ended = endOf(child).then((killed) => {
    clearTimeout(idle);
    clearInterval(hung);
    gone();
    for (const settle of waiting.splice(0)) settle({ kind: 'ended', killed, stderr });
  });
  return {
    ask: (name) =>
      new Promise((resolve) => {
        // An idle process that is about to end counts as killed: the caller starts the next one.
        if (child.stdin.writableEnded || child.exitCode !== null)
          return resolve({ kind: 'ended', killed: true, stderr });
        waiting.push(resolve);
        idle.refresh();
        moved = true;
        child.stdin.write(`${name}\n`);
      }),
    async close() {
      child.stdin.end();
      child.kill();
      await ended;
    },
  };
}

/** Whether the process ended by no fault of the repository: killed, or never started. */
const endOf = (child: ChildProcessWithoutNullStreams): Promise<boolean> =>
  new Promise((resolve) => {
    child.once('error', () => resolve(true));
    child.once('close', (code) => resolve(code === null || code === 0));
  });

interface Body {
  readonly type: string;
  readonly size: number;
  left: number;
  readonly chunks: Buffer[];
}

/** Cuts the stream into answers: a line, then for an object its bytes and a line end. */
function makeParser(emit: (answer: Answer) => void): (chunk: Buffer) => void {
  let head = Buffer.alloc(0);
  let body: Body | undefined;
  return (incoming) => {
    let chunk = incoming;
    while (chunk.length > 0) {
      if (body !== undefined) {
        chunk = takeBody(body, chunk);
        if (body.left > 0) return;
        emit(answerOf(body));
        body = undefined;
        continue;
      }
      const end = chunk.indexOf('\n');
      if (end < 0) {
        head = Buffer.concat([head, chunk]);
        return;
      }
      const line = Buffer.concat([head, chunk.subarray(0, end)]).toString('utf8');
      head = Buffer.alloc(0);
      chunk = chunk.subarray(end + 1);
      body = bodyOf(line);
      if (body === undefined) emit({ kind: 'missing' });
    }
  };
}

function bodyOf(line: string): Body | undefined {
  const match = /^[0-9a-f]{40,64} (blob|tree|commit|tag) (\d+)$/.exec(line);
  if (match === null) return undefined;
  const size = Number(match[2]);
  return { type: match[1] as string, size, left: size + 1, chunks: [] };
}

function takeBody(body: Body, chunk: Buffer): Buffer {
  const taken = chunk.subarray(0, body.left);
  body.left -= taken.length;
  if (body.size <= limits.artifactBytes) body.chunks.push(taken);
  return chunk.subarray(taken.length);
}

function answerOf(body: Body): Answer {
  if (body.size > limits.artifactBytes) return { kind: 'oversized', size: body.size };
  return { kind: 'object', type: body.type, content: Buffer.concat(body.chunks, body.size) };
}
