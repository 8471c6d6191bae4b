/** What an agent can do across the import, on a real server. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ensureAccount, ensureArtifactStream } from '../../../hub/streams.ts';
import { publishExpecting, type Msg } from '../../../shared/nats.ts';
import {
  accountOfCall,
  agentSubjects,
  hubSubjects,
  ORDER_CONSUMER,
  streams,
} from '../../../shared/subjects.ts';
import { until } from '../../harness/until.ts';
import { connectAgent, makeCluster, startBroker } from './broker.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const web = { namespace: 'shop', name: 'web.eu' };
const harbour = makeCluster('harbour');
const quay = makeCluster('quay');
const owner = { after };

const broker = await startBroker(owner, [harbour, quay]);
for (const { account } of [harbour, quay]) await ensureAccount(broker.hub, account);
await ensureArtifactStream(broker.hub);
const agent = await connectAgent(owner, broker, harbour);

test('an order is pulled, and acknowledged so that it does not come again', async () => {
  await broker.hub.js.publish(hubSubjects.order('harbour', web), bytes('order 1'));
  const consumer = await agent.js.consumers.get(streams.orders('harbour'), ORDER_CONSUMER);
  const message = await consumer.next({ expires: 5_000 });
  assert.equal(message?.string(), 'order 1');
  assert.equal(message.subject, hubSubjects.order('harbour', web));
  assert.ok(message.working() === undefined);
  assert.equal(await message.ackAck(), true);
  const info = await broker.hub.jsm.consumers.info(streams.orders('harbour'), ORDER_CONSUMER);
  assert.equal(info.num_ack_pending, 0);
  assert.equal(info.num_pending, 0);
});

test('a pull for several orders gets all of them and its end', async () => {
  for (const name of ['a', 'b', 'c'])
    await broker.hub.js.publish(hubSubjects.order('harbour', { namespace: 'many', name }), bytes(name));
  const consumer = await agent.js.consumers.get(streams.orders('harbour'), ORDER_CONSUMER);
  const seen: string[] = [];
  for await (const message of await consumer.fetch({ max_messages: 10, expires: 1_000 })) {
    seen.push(message.string());
    message.ack();
  }
  assert.deepEqual(seen, ['a', 'b', 'c']);
});

test('a report is stored once; a second one on the same sequence says on which to build', async () => {
  const publish = (lastSubjectSequence: number) =>
    publishExpecting(agent.js, agentSubjects.report(web), {
      data: bytes('report'),
      expect: { lastSubjectSequence },
    });
  const first = await publish(0);
  assert.equal(first.kind, 'stored');
  assert.deepEqual(await publish(0), { kind: 'conflict', last: first.sequence });
  const stored = await broker.hub.jsm.streams.getMessage(streams.state('harbour'), {
    last_by_subj: hubSubjects.report('harbour', web),
  });
  assert.equal(stored?.string(), 'report');
});

test('a chunk of an artifact is read without JetStream in the account', async () => {
  const name = 'f'.repeat(64);
  const chunk = new Uint8Array(512 * 1024).fill(7);
  await broker.hub.js.publish(hubSubjects.artifactChunk(name, 0), chunk);
  const answer = await agent.connection.request(agentSubjects.artifactChunk(name, 0), undefined, {
    timeout: 5_000,
  });
  assert.deepEqual(answer.data, chunk);
  const missing = await agent.connection.request(agentSubjects.artifactChunk(name, 1), undefined, {
    timeout: 5_000,
  });
  assert.equal(missing.headers?.code, 404);
});

test('hello is answered and a beat arrives, both under the account of the caller', async () => {
  const calls: string[] = [];
  const note = (message: Msg): void =>
    void calls.push(`${accountOfCall(message.subject)} ${message.string()}`);
  broker.hub.connection.subscribe(hubSubjects.hellos, {
    callback: (_error, message) => {
      note(message);
      message.respond(bytes('welcome'));
    },
  });
  broker.hub.connection.subscribe(hubSubjects.beats, { callback: (_error, message) => note(message) });
  await broker.hub.connection.flush();
  const answer = await agent.connection.request(agentSubjects.hello, bytes('hello'), { timeout: 5_000 });
  assert.equal(answer.string(), 'welcome');
  agent.connection.publish(agentSubjects.beat, bytes('beat'));
  await until('the beat', () => calls.length === 2);
  assert.deepEqual(calls, ['harbour hello', 'harbour beat']);
});

test('a cluster that is added to the file by a reload works, and the others stay connected', async () => {
  const buoy = makeCluster('buoy');
  const config = broker.config([harbour, quay, buoy]);
  await ensureAccount(broker.hub, 'buoy');
  await broker.server.reload(config);
  await broker.server.reload(config);
  const added = await connectAgent(owner, broker, buoy);
  await broker.hub.js.publish(hubSubjects.order('buoy', web), bytes('for buoy'));
  const consumer = await until('the imports', () =>
    added.js.consumers.get(streams.orders('buoy'), ORDER_CONSUMER),
  );
  const message = await consumer.next({ expires: 5_000 });
  assert.equal(message?.string(), 'for buoy');
  assert.equal(agent.connection.stats().inMsgs > 0 && !agent.connection.isClosed(), true);
  const answer = await agent.connection.request(agentSubjects.hello, bytes('hello'), { timeout: 5_000 });
  assert.equal(answer.string(), 'welcome');
});
