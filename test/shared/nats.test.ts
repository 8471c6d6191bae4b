/** The broker's client, on a real server. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  connectBroker,
  makeUserKey,
  publicKeyOf,
  publishExpecting,
  readLastMessages,
} from '../../shared/nats.ts';
import { connectTo, type Client } from '../harness/client.ts';
import { startNats, type NatsServer } from '../harness/nats.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

/** A server with one stream of the subjects `s.>` that keeps the newest message of each. */
async function withStream(t: TestContext): Promise<{ server: NatsServer; client: Client }> {
  const server = await startNats(t);
  const client = await connectTo(t, server.url);
  await client.jsm.streams.add({ name: 'S', subjects: ['s.>'], max_msgs_per_subject: 1 });
  return { server, client };
}

function assertOldestFirst(read: readonly { readonly sequence: number }[]): void {
  const sequences = read.map(({ sequence }) => sequence);
  assert.deepEqual(
    sequences,
    sequences.toSorted((a, b) => a - b),
  );
}

test('a publish on the expected sequence is stored, another one says on which to build', async (t) => {
  const { client } = await withStream(t);
  const publish = (subject: string, expect: { lastSequence: number } | { lastSubjectSequence: number }) =>
    publishExpecting(client.js, subject, { data: bytes(subject), expect });
  assert.deepEqual(await publish('s.a', { lastSequence: 0 }), { kind: 'stored', sequence: 1 });
  assert.deepEqual(await publish('s.b', { lastSequence: 0 }), { kind: 'conflict', last: 1 });
  assert.deepEqual(await publish('s.b', { lastSequence: 1 }), { kind: 'stored', sequence: 2 });
  assert.deepEqual(await publish('s.a', { lastSubjectSequence: 1 }), { kind: 'stored', sequence: 3 });
  assert.deepEqual(await publish('s.a', { lastSubjectSequence: 1 }), { kind: 'conflict', last: 3 });
  assert.deepEqual(await publish('s.c', { lastSubjectSequence: 0 }), { kind: 'stored', sequence: 4 });
});

test('a publish that no stream takes is an error and not a conflict', async (t) => {
  const { client } = await withStream(t);
  await assert.rejects(
    publishExpecting(client.js, 'elsewhere', { data: bytes('x'), expect: { lastSequence: 0 } }),
  );
});

test('the newest message of each of 1,201 subjects is read, oldest first', async (t) => {
  const { client } = await withStream(t);
  const subjects = Array.from({ length: 1_201 }, (_, n) => `s.in.${n}`);
  await Promise.all(subjects.map((subject) => client.js.publish(subject, bytes('old'))));
  await client.js.publish('s.out', bytes('other'));
  await client.js.publish('s.in.0', bytes('new'));
  const read = await readLastMessages(client, 'S', 's.in.>');
  assert.deepEqual(read.map(({ subject }) => subject).toSorted(), subjects.toSorted());
  assert.deepEqual([read.at(-1)?.subject, text(read.at(-1)?.data ?? bytes(''))], ['s.in.0', 'new']);
  assertOldestFirst(read);
  assert.equal((await client.jsm.streams.info('S')).state.consumer_count, 0);
});

test('a stream that keeps older messages still gives the newest only', async (t) => {
  const { client } = await withStream(t);
  await client.jsm.streams.add({ name: 'H', subjects: ['h.>'] });
  for (const data of ['1', '2', '3']) await client.js.publish('h.a', bytes(data));
  const read = await readLastMessages(client, 'H', 'h.>');
  assert.deepEqual(
    read.map(({ sequence, data }) => [sequence, text(data)]),
    [[3, '3']],
  );
});

test('an empty stream and a filter that nothing matches are read to their end at once', async (t) => {
  const { client } = await withStream(t);
  assert.deepEqual(await readLastMessages(client, 'S', 's.>'), []);
  await client.js.publish('s.a', bytes('x'));
  assert.deepEqual(await readLastMessages(client, 'S', 's.b.>'), []);
});

test('a stream that is not there is an error and not an empty one', async (t) => {
  const { client } = await withStream(t);
  await assert.rejects(readLastMessages(client, 'MISSING', 'm.>'), /stream not found/);
});

test('messages that are written while the stream is read lose none of the others', async (t) => {
  const { client } = await withStream(t);
  const subjects = Array.from({ length: 800 }, (_, n) => `s.${n}`);
  await Promise.all(subjects.map((subject) => client.js.publish(subject, bytes('old'))));
  const [read] = await Promise.all([
    readLastMessages(client, 'S', 's.>'),
    ...subjects.map((subject) => client.js.publish(subject, bytes('new'))),
  ]);
  assert.deepEqual(read.map(({ subject }) => subject).toSorted(), subjects.toSorted());
  assertOldestFirst(read);
  const after = await readLastMessages(client, 'S', 's.>');
  assert.equal(after.length, 800);
  assert.ok(after.every(({ data }) => text(data) === 'new'));
});

test('a connection survives a server that is killed: subscriptions and publishing go on', async (t) => {
  const { server, client } = await withStream(t);
  const heard: string[] = [];
  client.connection.subscribe('news', { callback: (_error, message) => void heard.push(message.string()) });
  await client.connection.flush();
  await server.stop('SIGKILL');
  await server.start();
  await until('a message after the restart', () => {
    client.connection.publish('news', bytes('still here'));
    return heard.includes('still here');
  });
  const publication = { data: bytes('x'), expect: { lastSequence: 0 } };
  const stored = await until('a publish', () => publishExpecting(client.js, 's.a', publication));
  assert.equal(stored.kind, 'stored');
});

test('what was acknowledged is there after a kill', async (t) => {
  const { server, client } = await withStream(t);
  for (let n = 0; n < 50; n += 1) await client.js.publish(`s.${n}`, bytes('x'));
  await server.stop('SIGKILL');
  await server.start();
  await until('an answer', () => client.connection.flush().then(() => true));
  const read = await readLastMessages(client, 'S', 's.>');
  assert.equal(read.length, 50);
});

const oneUser =
  (publicKey: string) =>
  (storeFolder: string): string =>
    JSON.stringify({
      jetstream: { store_dir: storeFolder },
      accounts: { A: { jetstream: 'enabled', users: [{ nkey: publicKey }] } },
    });

const refusals = (server: NatsServer): number => server.log().match(/authentication error/g)?.length ?? 0;

test('a seed that the server does not know ends no attempt; the right one is taken when it is there', async (t) => {
  const right = makeUserKey();
  const server = await startNats(t, { config: oneUser(right.publicKey) });
  let seed = makeUserKey().seed;
  const connecting = connectBroker({ servers: [server.url], seed: () => bytes(seed), name: 'test' });
  await until('four refusals', () => refusals(server) >= 4);
  seed = right.seed;
  const connection = await connecting;
  atEnd(t, () => connection.close());
  assert.equal(connection.isClosed(), false);
});

test('a key that the server forgets for a while keeps the connection trying', async (t) => {
  const key = makeUserKey();
  const server = await startNats(t, { config: oneUser(key.publicKey) });
  const { connection } = await connectTo(t, server.url, { seed: key.seed });
  await server.reload(oneUser(makeUserKey().publicKey)(server.storeFolder));
  const before = refusals(server);
  await until('four refusals', () => refusals(server) >= before + 4);
  assert.equal(connection.isClosed(), false);
  await server.reload(oneUser(key.publicKey)(server.storeFolder));
  await until('an answer', () => connection.flush().then(() => true));
});

test('a seed file that cannot be read or is half written leaves the last good seed in use', async (t) => {
  const key = makeUserKey();
  const server = await startNats(t, { config: oneUser(key.publicKey) });
  const reads: (() => Uint8Array)[] = [
    () => {
      throw new Error('no such file');
    },
    () => bytes(key.seed.slice(0, 20)),
  ];
  let read = (): Uint8Array => bytes(key.seed);
  const connection = await connectBroker({ servers: [server.url], seed: () => read(), name: 'test' });
  atEnd(t, () => connection.close());
  for (const broken of reads) {
    read = broken;
    await server.stop('SIGKILL');
    await server.start();
    await until('an answer', () => connection.flush().then(() => true));
  }
});

test('a first seed that is none is said at once', async () => {
  const servers = ['nats://127.0.0.1:1'];
  await assert.rejects(connectBroker({ servers, seed: () => bytes('SUnonsense'), name: 'test' }));
});

test('a server that is not there yet is waited for', async (t) => {
  const server = await startNats(t);
  await server.stop();
  let connected = false;
  const connecting = connectTo(t, server.url).then(() => (connected = true));
  await server.start();
  await connecting;
  assert.equal(connected, true);
});

test('a new key is a pair, and no other has the same', () => {
  const [one, other] = [makeUserKey(), makeUserKey()];
  assert.match(one.publicKey, /^U[A-Z2-7]{55}$/);
  assert.equal(publicKeyOf(one.seed), one.publicKey);
  assert.notEqual(one.publicKey, other.publicKey);
});
