/** At most one agent on a folder. */
import { createServer } from 'node:net';
import { realpath } from 'node:fs/promises';
import { sha256 } from '../../shared/canonical.ts';

/**
 * Takes a folder for this process until the returned function is called or the process ends. The lock is an abstract
 * socket: the kernel frees it with the process, so that nothing stale is ever left. Rejects when another process has it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const server = createServer();
  const name = `\0towline-ledger-${sha256(await realpath(folder))}`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`${folder} is in use by another agent on this machine`)
          : error,
      ),
    );
    server.listen(name, resolve);
  });
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}
