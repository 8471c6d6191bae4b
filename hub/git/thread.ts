/**
 * The thread that reads Git without the git program: started when needed, ended when idle, and ended when it takes too
 * long or too much memory. Nothing that a repository holds can do more harm than that.
 */
import { Worker } from 'node:worker_threads';
import { limits } from '../../shared/limits.ts';
import type { Answered, Call, Obtain, Obtained, Read, ReadAnswer, Sent } from './calls.ts';

/** The thread was ended while it worked, and why. */
export interface Ended {
  readonly kind: 'ended';
  readonly cause: 'time' | 'memory' | 'crash' | 'closed';
  readonly message: string;
}

export interface GitThread {
  ask(call: Obtain, timeoutMs: number): Promise<Obtained | Ended>;
  ask(call: Read, timeoutMs: number): Promise<ReadAnswer | Ended>;
  /** Ends the thread; the next question starts another one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** Bytes that a thread may hold. */
  readonly maxBytes?: number;
  /** How often its memory is looked at while it works. */
  readonly everyMs?: number;
  readonly idleMs?: number;
}

const EVERY_MS = 100;

/** Starts nothing before the first question. */
export function makeThread(options: ThreadOptions = {}): GitThread {
  let running: Running | undefined;
  let closed = false;
  const ask = (call: Call, timeoutMs: number): Promise<Answered['answer'] | Ended> => {
    if (closed) return Promise.resolve(closedBy('the repository was closed'));
    running ??= start(options, (gone) => {
      if (running === gone) running = undefined;
    });
    return running.ask(call, timeoutMs);
  };
  const restart = async (): Promise<void> => {
    await running?.end(closedBy('the thread was ended'));
  };
  return {
    // What is answered to which question is the other side's promise.
    ask: ask as GitThread['ask'],
    restart,
    async close() {
      closed = true;
      await restart();
    },
  };
}

interface Running {
  ask(call: Call, timeoutMs: number): Promise<Answered['answer'] | Ended>;
  end(why: Ended): Promise<void>;
}

interface Waiting {
  readonly settle: (answer: Answered['answer'] | Ended) => void;
  readonly deadline: NodeJS.Timeout;
}

/** Beside the bundles it is one of them. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './gitworker.js', import.meta.url);

const MIB = 1024 * 1024;

function start(options: ThreadOptions, onGone: (gone: Running) => void): Running {
  const {
    maxBytes = limits.gitThreadBytes,
    everyMs = EVERY_MS,
    idleMs = limits.objectReaderIdleMs,
  } = options;
  const worker = new Worker(WORKER, {
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(maxBytes / MIB) },
    env: {},
    execArgv: [],
  });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  const end = async (why: Ended): Promise<void> => {
    onGone(running);
    memory.end();
    clearTimeout(idle);
    for (const { settle, deadline } of waiting.values()) {
      clearTimeout(deadline);
      settle(why);
    }
    waiting.clear();
    await worker.terminate();
  };
  const endIdle = (): void => void (waiting.size === 0 && end(closedBy('idle')));
  const idle = setTimeout(endIdle, idleMs).unref();
  const isBusy = (): boolean => waiting.size > 0;
  const memory = watchMemory(worker, {
    maxBytes,
    everyMs,
    isBusy,
    onMuch: () => void end(tooMuch(maxBytes)),
  });
  worker.on('message', ({ n, answer }: Answered) => {
    const one = waiting.get(n);
    waiting.delete(n);
    clearTimeout(one?.deadline);
    idle.refresh();
    if (waiting.size === 0) worker.unref();
    one?.settle(answer);
  });
  worker.on('error', (error) => void end(failureOf(error, maxBytes)));
  const running: Running = {
    ask: (call, timeoutMs) =>
      new Promise((settle) => {
        const n = (asked += 1);
        const why = `it took longer than ${Math.round(timeoutMs / 1_000)} s`;
        const late: Ended = { kind: 'ended', cause: 'time', message: why };
        waiting.set(n, { settle, deadline: setTimeout(() => void end(late), timeoutMs) });
        worker.ref();
        const sent: Sent = { n, call };
        worker.postMessage(sent);
      }),
    end,
  };
  return running;
}

interface MemoryWatch {
  readonly maxBytes: number;
  readonly everyMs: number;
  readonly isBusy: () => boolean;
  readonly onMuch: () => void;
}

/** The engine's own limit does not count what lies outside of its heap, which is most of what a pack takes. */
function watchMemory(worker: Worker, watch: MemoryWatch): { end(): void } {
  const look = async (): Promise<void> => {
    if (!watch.isBusy()) return;
    const heap = await worker.getHeapStatistics().catch(() => undefined);
    if (heap !== undefined && heap.used_heap_size + heap.external_memory > watch.maxBytes) watch.onMuch();
  };
  const timer = setInterval(() => void look(), watch.everyMs).unref();
  return { end: () => clearInterval(timer) };
}

const closedBy = (message: string): Ended => ({ kind: 'ended', cause: 'closed', message });

const failureOf = (error: unknown, maxBytes: number): Ended => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch(maxBytes) : { kind: 'ended', cause: 'crash', message };
};

const tooMuch = (maxBytes: number): Ended => ({
  kind: 'ended',
  cause: 'memory',
  message: `it takes more than ${Math.floor(maxBytes / MIB)} MiB of memory to read this repository without the git program; make git available to the hub`,
});
