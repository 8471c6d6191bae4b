/** An agent with valid credentials of its own cluster tries to reach another one's work. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ensureAccount, ensureArtifactStream } from '../../../hub/streams.ts';
import {
  agentSubjects,
  ARTIFACT_STREAM,
  hubSubjects,
  ORDER_CONSUMER,
  streams,
} from '../../../shared/subjects.ts';
import type { Msg } from '../../../shared/nats.ts';
import { open, seal } from '../../../shared/seal.ts';
import { until } from '../../harness/until.ts';
import { connectAgent, makeCluster, startBroker } from './broker.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const web = { namespace: 'shop', name: 'web' };
const SECRET = 'for quay only';
const owner = { after };
const harbour = makeCluster('harbour');
const quay = makeCluster('quay');

const broker = await startBroker(owner, [harbour, quay]);
for (const { account } of [harbour, quay]) await ensureAccount(broker.hub, account);
await ensureArtifactStream(broker.hub);
const victim = await connectAgent(owner, broker, quay);
const attacker = (await connectAgent(owner, broker, harbour)).connection;

await broker.hub.js.publish(hubSubjects.order('quay', web), bytes(SECRET));
await broker.hub.js.publish(hubSubjects.order('quay', { namespace: 'shop', name: 'api' }), bytes(SECRET));
await victim.js.publish(agentSubjects.report(web), bytes(SECRET));
/** One order of the victim is out and not yet acknowledged. */
const pull = (): Promise<Msg> =>
  victim.connection.request('hub.api.CONSUMER.MSG.NEXT.quay.agent', undefined, {
    timeout: 5_000,
    noMux: true,
  });
const held = (await pull()).reply ?? '';

/** Every stream with its content's bounds, and the victim's consumer. */
async function everything(): Promise<unknown> {
  const found: unknown[] = [];
  for await (const { config, state } of broker.hub.jsm.streams.list())
    found.push([config.name, state.messages, state.first_seq, state.last_seq, state.consumer_count]);
  const consumer = await broker.hub.jsm.consumers.info(streams.orders('quay'), ORDER_CONSUMER);
  found.push([consumer.delivered, consumer.ack_floor, consumer.num_ack_pending, consumer.num_pending]);
  return found;
}

/** Hears everything that the attacker's account shows, from now on. */
async function eavesdrop(): Promise<readonly string[]> {
  const heard: string[] = [];
  attacker.subscribe('>', {
    callback: (_error, message) => void heard.push(`${message.subject} ${message.string()}`),
  });
  await attacker.flush();
  return heard;
}

/** Tries a call and waits until the server has handled it. An answer is what it must not get. */
async function call(subject: string, body = ''): Promise<string> {
  try {
    const answer = await attacker.request(subject, bytes(body), { timeout: 1_000, noMux: true });
    return answer.headers?.status ?? answer.string();
  } catch (error) {
    return (error as Error).name;
  }
}

/** Nobody listens, or the own account says that it has no JetStream. */
const assertRefused = (subject: string, answer: string): void =>
  assert.match(answer, /^NoRespondersError$|^RequestError$|JetStream not enabled for account/, subject);

test('no call of JetStream reaches a foreign stream, nor more of the own one than the next order', async () => {
  const before = await everything();
  const next = JSON.stringify({ batch: 1, expires: 1_000_000 });
  const last = JSON.stringify({ last_by_subj: hubSubjects.order('quay', web) });
  const calls = ['quay', 'harbour', 'STATE_quay'].flatMap((stream): [string, string][] => [
    ...(stream === 'harbour' ? [] : ([[`CONSUMER.MSG.NEXT.${stream}.agent`, next]] as [string, string][])),
    ...(stream === 'harbour' ? [] : ([[`CONSUMER.INFO.${stream}.agent`, '']] as [string, string][])),
    [`STREAM.MSG.GET.${stream}`, last],
    [`STREAM.MSG.DELETE.${stream}`, JSON.stringify({ seq: 1 })],
    [`STREAM.PURGE.${stream}`, ''],
    [`STREAM.DELETE.${stream}`, ''],
    [`STREAM.INFO.${stream}`, ''],
    [`DIRECT.GET.${stream}.orders.quay.shop.web`, ''],
    [`CONSUMER.CREATE.${stream}.thief`, JSON.stringify({ stream_name: stream, config: { name: 'thief' } })],
    [`CONSUMER.DELETE.${stream}.agent`, ''],
  ]);
  for (const [subject, body] of calls)
    for (const prefix of ['hub.api', '$JS.API']) {
      const answer = await call(`${prefix}.${subject}`, body);
      assertRefused(`${prefix}.${subject}`, answer);
    }
  assert.deepEqual(await everything(), before);
});

test("another cluster's orders cannot be acknowledged in any form of the subject", async () => {
  const before = await everything();
  assert.match(held, /^\$JS\.ACK\.quay\.agent\.1\./);
  const suffix = held.split('.').slice(4);
  const [, stored] = suffix;
  const forms = [
    held,
    `$JS.ACK._.hash.quay.agent.${suffix.join('.')}`,
    `$JS.ACK.quay.agent.harbour.agent.${suffix.slice(2).join('.')}`,
    `$JS.ACK.quay.agent.harbour.agent.1.${stored}.1`,
    `$JS.ACK.harbour.agent.quay.agent.${suffix.join('.')}`,
  ];
  for (const form of forms)
    for (const body of ['+ACK', '+TERM', '-NAK', '+NXT']) {
      await call(form, body);
      attacker.publish(form, bytes(body));
    }
  await attacker.flush();
  assert.deepEqual(await everything(), before);
});

test('no subject of another cluster, and no order of the own one, can be written', async () => {
  const before = await everything();
  const subjects = [
    hubSubjects.order('quay', web),
    hubSubjects.order('harbour', web),
    hubSubjects.clusterOrder('quay'),
    hubSubjects.report('quay', web),
    hubSubjects.report('harbour', web),
    `state.quay.report.shop.web`,
    hubSubjects.artifactChunk('a'.repeat(64), 0),
    `$KV.LEASES.leader`,
  ];
  for (const subject of subjects) {
    const answer = await call(subject, 'forged');
    assertRefused(subject, answer);
  }
  assert.deepEqual(await everything(), before);
});

test('an answer that is asked for on a foreign subject stays in the own account', async () => {
  broker.hub.connection.subscribe(hubSubjects.hellos, {
    callback: (_error, message) => void message.respond(bytes('forged')),
  });
  await broker.hub.js.publish(hubSubjects.order('harbour', web), bytes('forged'));
  await broker.hub.js.publish(hubSubjects.artifactChunk('c'.repeat(64), 0), bytes('forged'));
  const before = await everything();
  const heard = await eavesdrop();
  const replies = [
    hubSubjects.order('quay', web),
    hubSubjects.report('quay', web),
    '$JS.API.STREAM.PURGE.quay',
    'hub.api.CONSUMER.MSG.NEXT.quay.agent',
    held,
  ];
  for (const reply of replies) {
    attacker.publish(agentSubjects.hello, bytes('hello'), { reply });
    attacker.publish(agentSubjects.artifactChunk('c'.repeat(64), 0), undefined, { reply });
    attacker.publish('hub.api.CONSUMER.INFO.harbour.agent', undefined, { reply });
    attacker.publish('hub.api.CONSUMER.MSG.NEXT.harbour.agent', bytes(JSON.stringify({ no_wait: true })), {
      reply,
    });
  }
  await until(
    'the answers in the own account',
    () => heard.filter((line) => line.startsWith('orders.quay')).length >= 3,
  );
  await attacker.flush();
  assert.deepEqual(await everything(), before);
});

test('a wildcard in an artifact reaches only ciphertext that no foreign key opens', async () => {
  const theirs = seal(Buffer.from(SECRET), Buffer.alloc(32, 1));
  const own = seal(Buffer.from('own'), Buffer.alloc(32, 1));
  await broker.hub.js.publish(hubSubjects.artifactChunk(theirs.ref.name, 0), theirs.stored);
  const answer = await attacker.request('hub.artifact.*.0', undefined, { timeout: 5_000 });
  assert.deepEqual(Buffer.from(answer.data), theirs.stored);
  assert.throws(() => open(answer.data, { ...theirs.ref, key: own.ref.key }));
  assert.equal(
    await call(agentSubjects.artifactChunk('*', 0), JSON.stringify({ multi_last: ['>'] })),
    '408 Bad Request',
  );
  const { config } = await broker.hub.jsm.streams.info(ARTIFACT_STREAM);
  assert.deepEqual(config.subjects, [hubSubjects.artifacts]);
});

test('listening to everything hears nothing of the neighbour', async () => {
  broker.hub.connection.subscribe(hubSubjects.hellos, {
    callback: (_error, message) => void message.respond(bytes(SECRET)),
  });
  const heard = await eavesdrop();
  await victim.js.publish(agentSubjects.report(web), bytes(SECRET));
  await victim.connection.request(agentSubjects.hello, bytes(SECRET), { timeout: 5_000 });
  await broker.hub.js.publish(hubSubjects.order('quay', web), bytes(SECRET));
  assert.equal((await pull()).string(), SECRET);
  await attacker.request(agentSubjects.hello, bytes('own'), { timeout: 5_000 });
  assert.deepEqual(
    heard.filter((line) => line.includes(SECRET)),
    [],
  );
  assert.ok(heard.length > 0);
});
