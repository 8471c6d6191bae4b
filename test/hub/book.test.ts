import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { EMPTY_BOARD } from '../../hub/board.ts';
import { makeBook } from '../../hub/book.ts';
import { makeCollection } from '../../hub/collection.ts';
import { keepLease } from '../../hub/lease.ts';
import { hasArtifact, listArtifacts, uploadArtifact } from '../../hub/upload.ts';
import { ensureArtifactStream } from '../../hub/streams.ts';
import { makeLog } from '../../shared/log.ts';
import { limits } from '../../shared/limits.ts';
import { seal } from '../../shared/seal.ts';
import { streams } from '../../shared/subjects.ts';
import { connectTo } from '../harness/client.ts';
import { startNats } from '../harness/nats.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { keyOf, makeOrder, makeWanted, NOW } from './make.ts';

const HARBOUR = { name: 'harbour', policy: { maxConcurrentRuns: 4 } };
const quiet = makeLog({ name: 'test', level: 'silent' });

const web = makeOrder(makeWanted({ name: 'web' }), { gen: NOW });

test('a book that is read again says what was published', async (t) => {
  const server = await startNats(t);
  const book = makeBook(await connectTo(t, server.url));
  await book.load(['harbour']);
  assert.equal(await book.lead([HARBOUR], NOW), 'stored');
  assert.equal(await book.publish({ clusters: [HARBOUR], orders: [web], now: NOW }), 'stored');
  const later = makeBook(await connectTo(t, server.url));
  await later.load([]);
  assert.deepEqual([...later.inForce], [[keyOf(web), web]]);
});

test('many orders go out in the order of the plan, each against the sequence before', async (t) => {
  const server = await startNats(t);
  const book = makeBook(await connectTo(t, server.url));
  const orders = Array.from({ length: 300 }, (_, n) =>
    makeOrder(makeWanted({ name: `s${n}` }), { gen: NOW }),
  );
  await book.load(['harbour']);
  await book.lead([HARBOUR], NOW);
  assert.equal(await book.publish({ clusters: [HARBOUR], orders, now: NOW }), 'stored');
  const later = makeBook(await connectTo(t, server.url));
  await later.load([]);
  assert.equal(later.inForce.size, 300);
});

test('a leader that slept through a change of leaders can publish nothing', async (t) => {
  const server = await startNats(t);
  const [old, next] = [makeBook(await connectTo(t, server.url)), makeBook(await connectTo(t, server.url))];
  await old.load(['harbour']);
  await old.lead([HARBOUR], NOW);
  await next.load(['harbour']);
  await next.lead([HARBOUR], NOW);
  assert.ok(next.term > old.term);

  assert.equal(await old.publish({ clusters: [HARBOUR], orders: [web], now: NOW }), 'conflict');
  assert.equal(old.loaded, false);
  const seen = makeBook(await connectTo(t, server.url));
  await seen.load([]);
  assert.equal(seen.inForce.size, 0);
});

test('an unchanged cluster policy is not published again, a changed one is', async (t) => {
  const server = await startNats(t);
  const jets = await connectTo(t, server.url);
  const book = makeBook(jets);
  const last = async (): Promise<number> => (await jets.jsm.streams.info('harbour')).state.last_seq;
  await book.load(['harbour']);
  await book.lead([HARBOUR], NOW);
  const before = await last();
  await book.publish({ clusters: [HARBOUR], orders: [], now: NOW });
  assert.equal(await last(), before);
  await book.publish({
    clusters: [{ name: 'harbour', policy: { maxConcurrentRuns: 8 } }],
    orders: [],
    now: NOW,
  });
  assert.equal(await last(), before + 1);
});

test('a store that was lost is made anew by the next load', async (t) => {
  const server = await startNats(t);
  const jets = await connectTo(t, server.url);
  const book = makeBook(jets);
  await book.load(['harbour']);
  await book.lead([HARBOUR], NOW);
  await jets.jsm.streams.delete('harbour');
  await assert.rejects(book.publish({ clusters: [HARBOUR], orders: [web], now: NOW }));
  await book.load(['harbour']);
  await book.lead([HARBOUR], NOW);
  assert.equal(await book.publish({ clusters: [HARBOUR], orders: [web], now: NOW }), 'stored');
});

test('a stream that a cluster lacks is made by the next load, also when no manifest names the cluster', async (t) => {
  const server = await startNats(t);
  const jets = await connectTo(t, server.url);
  const book = makeBook(jets);
  await book.load(['harbour', 'island']);
  for (const account of ['harbour', 'island']) await jets.jsm.streams.delete(streams.state(account));
  await book.load(['harbour']);
  for (const account of ['harbour', 'island'])
    assert.equal((await jets.jsm.streams.info(streams.state(account))).config.name, streams.state(account));
});

test('an artifact is there when its last chunk is', async (t) => {
  const server = await startNats(t);
  const jets = await connectTo(t, server.url);
  await ensureArtifactStream(jets);
  const sealed = seal(randomBytes(3 * limits.chunkBytes), Buffer.alloc(32, 7));
  const stream = async (): Promise<number> => (await jets.jsm.streams.info('ARTIFACTS')).state.messages;
  assert.equal(await hasArtifact(jets, sealed.ref), false);
  await uploadArtifact(jets, sealed);
  assert.equal(await hasArtifact(jets, sealed.ref), true);
  assert.equal(await stream(), sealed.ref.chunks);
  assert.equal(sealed.ref.chunks, 4);
});

test('an artifact without use goes after a day; what an order or a success names stays', async (t) => {
  const server = await startNats(t);
  const jets = await connectTo(t, server.url);
  const book = makeBook(jets);
  await book.load(['harbour']);
  await book.lead([HARBOUR], NOW);
  const [inUse, unused] = [seal(randomBytes(10), Buffer.alloc(32)), seal(randomBytes(10), Buffer.alloc(32))];
  for (const sealed of [inUse, unused]) await uploadArtifact(jets, sealed);
  await book.publish({ clusters: [HARBOUR], orders: [{ ...web, artifact: inUse.ref }], now: NOW });
  const collect = makeCollection({ jets, book, board: () => EMPTY_BOARD, log: quiet });
  await collect(NOW);
  assert.equal((await listArtifacts(jets)).size, 2);
  await collect(NOW + limits.artifactKeepMs);
  assert.deepEqual([...(await listArtifacts(jets))], [inUse.ref.name]);
});

test('one hub leads; when it lets go, the other takes over', async (t) => {
  const server = await startNats(t);
  const led: string[] = [];
  const hub = async (id: string): Promise<ReturnType<typeof keepLease>> => {
    const stop = new AbortController();
    const { js } = await connectTo(t, server.url);
    const lease = keepLease({ js, id, log: quiet, clock: Date.now, onLead: () => led.push(id) }, stop.signal);
    atEnd(t, async () => {
      stop.abort();
      await lease.done;
    });
    return lease;
  };
  const first = await hub('first');
  await until('the first hub to lead', () => first.leads(Date.now()));
  const second = await hub('second');
  assert.equal(second.leads(Date.now()), false);
  await first.release();
  assert.equal(first.leads(Date.now()), false);
  await until('the second hub to lead', () => second.leads(Date.now()));
  assert.deepEqual(led, ['first', 'second']);
});

test('a hub that was killed and started again leads at once', async (t) => {
  const server = await startNats(t);
  const hub = async (id: string): Promise<ReturnType<typeof keepLease>> => {
    const stop = new AbortController();
    const { js } = await connectTo(t, server.url);
    const lease = keepLease({ js, id, log: quiet, clock: Date.now, onLead: () => undefined }, stop.signal);
    atEnd(t, async () => {
      stop.abort();
      await lease.done;
    });
    return lease;
  };
  const killed = await hub('one');
  await until('the hub to lead', () => killed.leads(Date.now()));
  const again = await hub('one');
  await until('the same hub to lead', () => again.leads(Date.now()), { deadlineMs: limits.leaseRenewMs });
});

test('a leader without a broker stops leading by its own clock', async (t) => {
  const server = await startNats(t);
  const stop = new AbortController();
  const { js } = await connectTo(t, server.url);
  const lease = keepLease(
    { js, id: 'only', log: quiet, clock: Date.now, onLead: () => undefined },
    stop.signal,
  );
  atEnd(t, async () => {
    stop.abort();
    await lease.done;
  });
  await until('the hub to lead', () => lease.leads(Date.now()));
  assert.equal(lease.leads(Date.now() + limits.leaseGiveUpMs), false);
});
