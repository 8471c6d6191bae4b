/** A run's output on its way to the hub, in chunks. Memory is bounded: what does not fit is dropped with a mark. */
import { limits } from '../shared/limits.ts';
import type { JetStreamClient } from '../shared/nats.ts';
import { agentSubjects } from '../shared/subjects.ts';
import { encode, WIRE_VERSION, type LogChunk } from '../shared/wire.ts';
import type { Outbox } from './outbox.ts';

export interface Transcript {
  /** Redacted lines, in order. */
  write(lines: readonly string[]): void;
  /** Sends what is left and marks the end. */
  end(): void;
}

export interface Transcripts {
  /** `firstChunk` is above 0 for a run that an earlier agent has already written about. */
  open(runId: string, firstChunk: number): Transcript;
}

/** A chunk is sent at the latest so long after its first line. */
const FLUSH_MS = 500;

/** Characters of a chunk: far below a message's limit of 1 MiB, whatever they become in UTF-8 and JSON. */
const CHUNK_CHARACTERS = 128 * 1024;

/** Characters that wait for the broker, of all runs together. */
const WAITING_CHARACTERS = 4 * limits.outputBufferBytes;

export const CONTINUED = '[towline] followed by a restarted agent from here; the output begins anew:';

const dropped = (count: number): string =>
  `[towline] ${count} lines were left out here: the broker could not be reached`;

/** Chunks go through the outbox; those of all runs share one bound. */
export function makeTranscripts(parts: {
  readonly outbox: Outbox;
  readonly js: () => Promise<JetStreamClient>;
}): Transcripts {
  let waiting = 0;
  const send = (chunk: LogChunk): void => {
    const size = charactersOf(chunk.lines);
    waiting += size;
    const data = encode(chunk);
    parts.outbox.put(`log ${chunk.run} ${chunk.n}`, async () => {
      const msgID = `${chunk.run}.${chunk.n}`;
      await (await parts.js()).publish(agentSubjects.log(chunk.run, chunk.n), data, { msgID });
      waiting -= size;
    });
  };
  const hasRoom = (characters: number): boolean => waiting + characters <= WAITING_CHARACTERS;
  return {
    open: (runId, firstChunk) => openTranscript({ runId, firstChunk, send, hasRoom }),
  };
}

interface Parts {
  readonly runId: string;
  readonly firstChunk: number;
  readonly send: (chunk: LogChunk) => void;
  readonly hasRoom: (characters: number) => boolean;
}

function openTranscript({ runId, firstChunk, send, hasRoom }: Parts): Transcript {
  let n = firstChunk;
  let lines: string[] = firstChunk > 0 ? [CONTINUED] : [];
  let characters = 0;
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (last: boolean): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length === 0 && lost === 0 && !last) return;
    const tail = lost > 0 ? [dropped(lost)] : [];
    send({ v: WIRE_VERSION, run: runId, n, last, lines: [...lines, ...tail] });
    n += 1;
    lines = [];
    characters = 0;
    lost = 0;
  };
  const add = (line: string): void => {
    if (!hasRoom(characters + line.length)) {
      lost += 1;
      return;
    }
    if (lost > 0 || lines.length >= limits.logChunkLines || characters + line.length > CHUNK_CHARACTERS)
      flush(false);
    lines.push(line);
    characters += line.length;
  };
  return {
    write: (more) => {
      more.forEach(add);
      if (lines.length > 0) timer ??= setTimeout(() => flush(false), FLUSH_MS);
    },
    end: () => flush(true),
  };
}

const charactersOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length, 0);
