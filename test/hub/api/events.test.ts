import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeEventLog, type HubEvent } from '../../../hub/api/events.ts';
import { withHeartbeats } from '../../../hub/api/sse.ts';
import { until } from '../../harness/until.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { NOW } from '../make.ts';
import { serve, type Served } from './fixture.ts';

const event = (name: string, cluster = 'harbour'): HubEvent => ({
  kind: 'placement',
  cluster,
  namespace: 'shop',
  name,
  phase: 'Running',
  at: NOW,
});
const nameOf = (one: HubEvent): string => (one.kind === 'placement' ? one.name : one.kind);

test('events after an id, as long as they are kept', () => {
  const log = makeEventLog('a', 3);
  const start = log.last;
  assert.deepEqual(log.after(start), []);
  for (const name of ['1', '2', '3']) log.publish(event(name));
  assert.deepEqual(
    log.after(start)?.map((one) => nameOf(one.event)),
    ['1', '2', '3'],
  );
  const second = log.after(start)?.[1]?.id ?? '';
  log.publish(event('4'));
  assert.equal(log.after(start), undefined, 'the first one is gone');
  assert.deepEqual(
    log.after(second)?.map((one) => nameOf(one.event)),
    ['3', '4'],
  );
  assert.deepEqual(log.after(log.last), []);
  for (const foreign of ['b.1', 'a.99', 'a.x', 'a.', '', 'a.-1'])
    assert.equal(log.after(foreign), undefined, foreign);
});

interface Reader {
  readonly text: () => string;
  readonly ended: Promise<void>;
  stop(): void;
}

async function listen(served: Served): Promise<string> {
  return served.app.listen({ host: '127.0.0.1', port: 0 });
}

async function read(owner: Owner, url: string, headers: Record<string, string> = {}): Promise<Reader> {
  const stop = new AbortController();
  atEnd(owner, () => stop.abort());
  const response = await fetch(url, { signal: stop.signal, headers });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  let text = '';
  const decoder = new TextDecoder();
  const ended = (async () => {
    try {
      for await (const part of response.body ?? [])
        text += decoder.decode(part as Uint8Array, { stream: true });
    } catch {
      // the reader or the server went away
    }
  })();
  return { text: () => text, ended, stop: () => stop.abort() };
}

const idsIn = (text: string): string[] => [...text.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? '');

test('events come as they happen, filtered, and go on after the last one that was seen', async (t) => {
  const served = await serve(t);
  const url = await listen(served);
  const { events } = served.model;
  const all = await read(t, `${url}/v1/events`);
  const island = await read(t, `${url}/v1/events?cluster=island&stack=shop/web`);
  await until('both to be greeted', () => all.text().includes('hello') && island.text().includes('hello'));
  events.publish(event('web'));
  events.publish(event('api', 'island'));
  events.publish(event('web', 'island'));
  events.publish({ kind: 'source', repository: 'fleet', state: 'Ready', at: NOW });
  await until('all events', () => all.text().includes('event: source'));
  await until('the filtered event', () => island.text().includes('"web"'));
  assert.ok(!island.text().includes('"api"') && !island.text().includes('"harbour"'));
  all.stop();
  await all.ended;
  events.publish(event('missed'));
  const again = await read(t, `${url}/v1/events`, { 'last-event-id': idsIn(all.text()).at(-1) ?? '' });
  await until('the missed event', () => again.text().includes('"missed"'));
  assert.equal(idsIn(again.text()).length, 2);
  const stranger = await read(t, `${url}/v1/events`, { 'last-event-id': 'another-start.7' });
  await until('the reset', () => stranger.text().includes('event: reset'));
});

test('the server closes its streams when it stops', async (t) => {
  const served = await serve(t);
  const url = await listen(served);
  const reader = await read(t, `${url}/v1/events`);
  await until('the greeting', () => reader.text().includes('hello'));
  await served.app.close();
  await reader.ended;
});

test('a reader that goes away ends what was read for it', async (t) => {
  let signal: AbortSignal | undefined;
  const served = await serve(t, {}, (model) => ({
    ...model,
    log: async function* (_cluster, wish) {
      signal = wish.signal;
      yield { v: 1, run: wish.run, n: 0, last: false, lines: ['first'] };
      await new Promise((resolve) => wish.signal.addEventListener('abort', resolve, { once: true }));
    },
  }));
  const url = await listen(served);
  const log = `${url}/v1/placements/harbour/shop/web/runs/run-1/log`;
  const reader = await read(t, log, { accept: 'text/event-stream' });
  await until('the first line', () => reader.text().includes('"first"'));
  reader.stop();
  await until('the signal', () => signal?.aborted);
});

test('a log is followed to its end, and a reader that has the start gets the rest', async (t) => {
  const served = await serve(t);
  const url = await listen(served);
  const log = `${url}/v1/placements/harbour/shop/web/runs/run-1/log`;
  const whole = await read(t, log, { accept: 'text/event-stream' });
  await whole.ended;
  assert.deepEqual(idsIn(whole.text()), ['0', '1']);
  assert.match(whole.text(), /event: end\ndata: \{"n":1\}/);
  const rest = await read(t, log, { accept: 'text/event-stream', 'last-event-id': '0' });
  await rest.ended;
  assert.deepEqual(idsIn(rest.text()), ['1']);
  const plain = (await (await fetch(log)).json()) as { lines: string[]; complete: boolean };
  assert.deepEqual(plain, { run: 'run-1', lines: ['first', 'second "quoted"', 'third'], complete: true });
});

test('silence is broken by a comment', async () => {
  const stop = new AbortController();
  async function* silent(): AsyncGenerator<string, void, undefined> {
    yield 'first';
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
  }
  const parts: string[] = [];
  for await (const part of withHeartbeats(silent(), { signal: stop.signal, everyMs: 5 })) {
    parts.push(part);
    if (parts.length === 3) stop.abort();
  }
  assert.deepEqual(parts, ['first', ': still here\n\n', ': still here\n\n']);
});

test('an agent that falls silent is an event', async (t) => {
  const served = await serve(t);
  const before = served.model.events.last;
  served.world.now += 60_000;
  const seen = await until('the event', () => served.model.events.after(before)?.[0]?.event);
  assert.deepEqual(seen, { kind: 'cluster', cluster: 'harbour', state: 'Offline', at: served.world.now });
});
