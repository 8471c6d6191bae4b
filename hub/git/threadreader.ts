/** Reads the objects of a folder through the thread. */
import pLimit from 'p-limit';
import { limits } from '../../shared/limits.ts';
import type { Answer, ObjectReader } from './objects.ts';
import type { Ended, GitThread } from './thread.ts';
import type { ReadAnswer } from './calls.ts';

/** A read that the thread took along is repeated once; closing it leaves the thread to its owner. */
export function threadReader(thread: GitThread, gitDir: string): ObjectReader {
  const limit = pLimit(limits.objectReadsAtOnce);
  let closed = false;
  const ask = (id: string): Promise<ReadAnswer | Ended> =>
    closed
      ? Promise.resolve(CLOSED)
      : thread.ask({ op: 'read', gitDir, id, maxBytes: limits.artifactBytes }, limits.objectReadMs);
  return {
    read: (id) =>
      limit(async () => {
        const first = await ask(id);
        return answerOf(first.kind === 'ended' && !closed ? await ask(id) : first);
      }),
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
}

function answerOf(answer: ReadAnswer | Ended): Answer {
  switch (answer.kind) {
    case 'object': {
      const { buffer, byteOffset, byteLength } = answer.content;
      return { kind: 'object', type: answer.type, content: Buffer.from(buffer, byteOffset, byteLength) };
    }
    case 'broken':
      return { kind: 'ended', killed: false, stderr: answer.message };
    case 'ended':
      return { kind: 'ended', killed: true, stderr: answer.message };
    case 'missing':
    case 'oversized':
      return answer;
  }
}

const CLOSED: Ended = { kind: 'ended', cause: 'closed', message: 'the repository was closed' };
