import assert from 'node:assert/strict';
import test from 'node:test';
import { parseEvents } from './sse.ts';

test('events come whole, whatever the pieces are', async () => {
  const event = (commit: string): object => ({ kind: 'commit', commit, subject: 'Grüße' });
  const text =
    'retry: 2000\n\nid: a.1\nevent: hello\ndata: {}\n\n: still here\n\n' +
    ['one', 'two']
      .map((name, n) => `id: a.${n}\nevent: commit\ndata: ${JSON.stringify(event(name))}\n\n`)
      .join('');
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const events = [];
    for await (const one of parseEvents(pieces())) events.push(one);
    assert.deepEqual(events, [event('one'), event('two')]);
  }
});
