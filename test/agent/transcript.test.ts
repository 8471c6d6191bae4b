import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outbox } from '../../agent/outbox.ts';
import { CONTINUED, makeTranscripts } from '../../agent/transcript.ts';
import { limits } from '../../shared/limits.ts';
import type { JetStreamClient } from '../../shared/nats.ts';
import { decode, logChunkSchema, type LogChunk } from '../../shared/wire.ts';
import { until } from '../harness/until.ts';

/** An outbox that sends when it is told to, and the chunks that were sent. */
function wire(): {
  outbox: Outbox;
  js: () => Promise<JetStreamClient>;
  sent: LogChunk[];
  flush(): Promise<void>;
} {
  const waiting: (() => Promise<void>)[] = [];
  const sent: LogChunk[] = [];
  const publish = async (_subject: string, data: Uint8Array): Promise<void> => {
    const decoded = decode(logChunkSchema, data);
    if (decoded.kind === 'message') sent.push(decoded.message);
  };
  const outbox: Outbox = {
    put: (_key, send) => void waiting.push(send),
    has: () => false,
    size: 0,
    wake: () => undefined,
    idle: async () => undefined,
    close: () => undefined,
  };
  const flush = async (): Promise<void> => {
    for (const send of waiting.splice(0)) await send();
  };
  return { outbox, js: async () => ({ publish }) as unknown as JetStreamClient, sent, flush };
}

test('lines come in chunks of bounded length, numbered, the last one marked', async () => {
  const { flush, sent, ...parts } = wire();
  const transcript = makeTranscripts(parts).open('r', 0);
  const lines = Array.from({ length: limits.logChunkLines * 2 + 1 }, (_, n) => `line ${n}`);
  transcript.write(lines);
  transcript.end();
  await flush();
  assert.deepEqual(
    sent.flatMap((chunk) => chunk.lines),
    lines,
  );
  assert.deepEqual(
    sent.map(({ n, last, run }) => [n, last, run]),
    [
      [0, false, 'r'],
      [1, false, 'r'],
      [2, true, 'r'],
    ],
  );
});

test('a line does not wait for a full chunk', async () => {
  const { flush, sent, ...parts } = wire();
  const transcript = makeTranscripts(parts).open('r', 0);
  transcript.write(['alone']);
  await until('the line', async () => {
    await flush();
    return sent.length === 1;
  });
  transcript.end();
});

test('long lines never make a message that is too large', async () => {
  const { flush, sent, ...parts } = wire();
  const transcript = makeTranscripts(parts).open('r', 0);
  for (let n = 0; n < 100; n += 1) transcript.write(['x'.repeat(limits.lineBytes)]);
  transcript.end();
  await flush();
  assert.equal(sent.flatMap(({ lines }) => lines).length, 100);
  assert.ok(Math.max(...sent.map((chunk) => JSON.stringify(chunk).length)) < 512 * 1024);
});

test('while the broker is away memory is bounded, and what was left out is told', async () => {
  const { flush, sent, ...parts } = wire();
  const transcript = makeTranscripts(parts).open('r', 0);
  const line = 'x'.repeat(1_000);
  for (let n = 0; n < 20_000; n += 1) transcript.write([line]);
  await flush();
  const kept = sent.flatMap(({ lines }) => lines).length;
  assert.ok(kept > 3_000 && kept < 5_000, `${kept} lines were kept`);
  transcript.write(['after']);
  transcript.end();
  await flush();
  const rest = sent.flatMap(({ lines }) => lines).slice(kept);
  const marks = rest.filter((text) => text.startsWith('[towline]'));
  assert.equal(marks.length, 1);
  const left = Number(/(\d+) lines were left out/.exec(marks[0] ?? '')?.[1]);
  assert.equal(kept + rest.filter((text) => text === line).length + left, 20_000);
  assert.equal(rest.at(-1), 'after');
});

test('a run that an earlier agent wrote about is continued with a mark', async () => {
  const { flush, sent, ...parts } = wire();
  const transcript = makeTranscripts(parts).open('r', 700);
  transcript.write(['again']);
  transcript.end();
  await flush();
  assert.deepEqual(
    sent.map(({ n, lines }) => [n, lines]),
    [[700, [CONTINUED, 'again']]],
  );
});
