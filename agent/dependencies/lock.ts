/** One installer at a time per set of dependencies, in this process and in others on the machine. */
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256 } from '../../shared/canonical.ts';

const RETRY_MS = 100;

/**
 * Runs `work` while nobody else holds the same name. The lock is an abstract socket: the kernel frees it with its
 * process, so that a killed installer leaves nothing that somebody has to judge.
 */
export async function withLock<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let release = await tryLock(name);
  while (release === undefined) {
    await delay(RETRY_MS, undefined, { signal });
    release = await tryLock(name);
  }
  try {
    return await work();
  } finally {
    await release();
  }
}

async function tryLock(name: string): Promise<(() => Promise<void>) | undefined> {
  const server = createServer();
  const taken = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(`\0towline-install-${sha256(name)}`, () => resolve(true));
  });
  if (!taken) return undefined;
  return () => new Promise((resolve) => server.close(() => resolve()));
}
