/** Follows the files that a run writes, with bounded memory. */
import type { FileHandle } from 'node:fs/promises';
import { limits } from '../../shared/limits.ts';
import { openIfThere } from '../folders.ts';
import { makeEventFold, type Outcome } from '../pulumi/events.ts';
import { makeRedactor, redactText } from '../redact.ts';
import { makeLines } from './lines.ts';

/** Bytes read at once. */
const CHUNK_BYTES = 64 * 1024;

/** Bytes of a file that are read at a look: who writes faster than this agent reads must not keep it from a stop. */
const LOOK_BYTES = 4 * 1024 * 1024;

interface Tail {
  /** Hands on what was added since the last call, at most so many bytes of it. */
  drain(take: (chunk: Buffer) => void, most: number): Promise<void>;
  close(): Promise<void>;
}

/** A file that may not exist yet. */
function makeTail(path: string): Tail {
  let file: FileHandle | undefined;
  let position = 0;
  const buffer = Buffer.alloc(CHUNK_BYTES);
  return {
    drain: async (take, most) => {
      file ??= await openIfThere(path);
      if (file === undefined) return;
      for (const end = position + most; position < end;) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        take(buffer.subarray(0, bytesRead));
      }
    },
    close: async () => file?.close(),
  };
}

export interface Follower {
  /** Reads what is new, up to a bound. */
  read(): Promise<void>;
  /** Reads the rest; the files must have no writer any more. */
  end(): Promise<Followed>;
}

/** What a run wrote; every text in it is redacted. */
export interface Followed {
  readonly outcome: Outcome;
  readonly tail: readonly string[];
}

/** Follows output and events of one launch. `output` gets redacted lines in order, up to a bound for the whole run. */
export function follow(
  files: { readonly output: string; readonly events: string },
  patterns: readonly Buffer[],
  output: (lines: readonly string[]) => void,
): Follower {
  const printed = makeTail(files.output);
  const events = makeTail(files.events);
  const redactor = makeRedactor(patterns);
  const lines = makeLines(limits.lineBytes);
  const sink = makeSink(output);
  const eventLines = makeLines(limits.outputBufferBytes, '');
  const fold = makeEventFold();
  const read = async (most: number): Promise<void> => {
    await printed.drain((chunk) => sink.take(lines.push(redactor.push(chunk))), most);
    await events.drain((chunk) => eventLines.push(chunk).forEach(fold.push), most);
  };
  return {
    read: () => read(LOOK_BYTES),
    end: async () => {
      await read(Infinity);
      sink.take([...lines.push(redactor.end()), ...lines.end()]);
      eventLines.end().forEach(fold.push);
      await Promise.all([printed.close(), events.close()]);
      return { outcome: redacted(fold.outcome(), patterns), tail: sink.tail() };
    },
  };
}

/** Hands lines on until the run's share is used up; the newest lines are kept in any case. */
function makeSink(output: (lines: readonly string[]) => void) {
  let bytes = 0;
  let tail: string[] = [];
  return {
    take: (lines: readonly string[]): void => {
      if (lines.length === 0) return;
      tail = [...tail, ...lines].slice(-limits.tailLines);
      if (bytes > limits.runOutputBytes) return;
      bytes += lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
      output(bytes > limits.runOutputBytes ? [...lines, '… (the rest of the output is not kept)'] : lines);
    },
    tail: (): string[] => tail,
  };
}

function redacted(outcome: Outcome, patterns: readonly Buffer[]): Outcome {
  const safe = (text: string): string => redactText(text, patterns);
  const steps = (list: Outcome['resources']): Outcome['resources'] =>
    list.map(({ op, urn }) => ({ op, urn: safe(urn) }));
  return {
    ...outcome,
    resources: steps(outcome.resources),
    planned: steps(outcome.planned),
    errors: outcome.errors.map(({ text, urn }) => ({
      text: safe(text),
      ...(urn === undefined ? {} : { urn: safe(urn) }),
    })),
  };
}
