/** Gets a pack into a folder: under another name until it is whole, indexed and on disk. Inside the thread. */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import git from 'isomorphic-git';
import type { Obtain, Obtained } from './calls.ts';
import { failed, fetchFailure } from './failure.ts';
import { HttpRefusal } from './http.ts';
import { exchangeBody } from './download.ts';
import { encodeRequest, makeReply, ServerError } from './uploadpack.ts';

/** Never rejects. */
export async function obtain(call: Obtain): Promise<Obtained> {
  const packs = join(call.gitDir, 'objects', 'pack');
  const draft = join(packs, `tmp_${randomUUID()}`);
  try {
    await mkdir(packs, { recursive: true });
    const received = await receive(call, `${draft}.pack`);
    if (received.objects > 0) await settle(call.gitDir, { packs, draft, ...received });
    return { kind: 'obtained', shallow: received.shallow, objects: received.objects };
  } catch (error) {
    return failureOf(error);
  } finally {
    for (const end of ['.pack', '.idx']) await rm(draft + end, { force: true });
  }
}

class TooLarge extends Error {}

function failureOf(error: unknown): Obtained {
  if (error instanceof HttpRefusal) return error.failure;
  if (error instanceof ServerError) {
    const failure = fetchFailure(`fatal: remote error: ${error.message}`);
    return failure.state === 'Corrupt' ? { ...failure, state: 'Unreachable' } : failure;
  }
  if (error instanceof TooLarge) return { ...failed('QuotaExceeded', error.message), final: true };
  const words = error instanceof Error ? error.message : String(error);
  return failed(diskIsFull(error) ? 'QuotaExceeded' : 'Unreachable', words);
}

const diskIsFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');

interface Received {
  readonly shallow: readonly string[];
  readonly objects: number;
  /** Checksum at the end of the pack, hex. */
  readonly sum: string;
}

/** Bytes of the checksum that ends a pack. */
const SUM = 20;
/** Bytes before the first object: a word, the version, the number of objects. */
const HEAD = 12;

async function receive(call: Obtain, file: string): Promise<Received> {
  const chunks: Buffer[] = [];
  const reply = makeReply((bytes) => void chunks.push(bytes));
  const handle = await open(file, 'w', 0o600);
  try {
    const writer = makeWriter(handle, call.maxBytes);
    for await (const chunk of exchangeBody(call, encodeRequest(call))) {
      reply.push(chunk);
      await writer.write(chunks.splice(0));
    }
    if (!reply.ended) throw new Error('the server’s answer is cut off');
    await handle.sync();
    return { shallow: reply.shallow, ...writer.end() };
  } finally {
    await handle.close();
  }
}

interface Writer {
  write(chunks: readonly Buffer[]): Promise<void>;
  end(): { readonly objects: number; readonly sum: string };
}

/** Hashes everything but the last bytes, which are the hash. */
function makeWriter(handle: FileHandle, maxBytes: number): Writer {
  const hash = createHash('sha1');
  let size = 0;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  return {
    async write(chunks) {
      for (const chunk of chunks) {
        size += chunk.length;
        if (size > maxBytes)
          throw new TooLarge(
            `the repository sends more than ${maxBytes} bytes, the most that is read here without the git program`,
          );
        if (head.length < HEAD) head = Buffer.concat([head, chunk]).subarray(0, HEAD);
        const both = Buffer.concat([tail, chunk]);
        hash.update(both.subarray(0, Math.max(0, both.length - SUM)));
        tail = both.subarray(Math.max(0, both.length - SUM));
        await handle.write(chunk);
      }
    },
    end() {
      const sum = tail.toString('hex');
      if (head.toString('latin1', 0, 4) !== 'PACK' || hash.digest('hex') !== sum)
        throw new Error('the pack that the server sent is damaged');
      return { objects: head.readUInt32BE(8), sum };
    },
  };
}

interface Settling extends Received {
  readonly packs: string;
  readonly draft: string;
}

/** Readers look for indices, so the pack gets its name first. */
async function settle(gitDir: string, { packs, draft, objects, sum }: Settling): Promise<void> {
  const filepath = `objects/pack/${draft.slice(packs.length + 1)}.pack`;
  const { oids } = await git.indexPack({ fs, dir: gitDir, gitdir: gitDir, filepath, cache: {} });
  // An object that cannot be read is left out of the index without a word.
  if (new Set(oids).size !== objects)
    throw new Error(
      `the pack that the server sent has ${objects} objects, of which ${oids.length} are readable`,
    );
  await syncFile(`${draft}.idx`);
  await rename(`${draft}.pack`, join(packs, `pack-${sum}.pack`));
  await rename(`${draft}.idx`, join(packs, `pack-${sum}.idx`));
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  await handle.sync().finally(() => handle.close());
}
