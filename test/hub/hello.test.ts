import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerHellos, type HelloEdges } from '../../hub/hello.ts';
import { makeLog } from '../../shared/log.ts';
import { hubSubjects } from '../../shared/subjects.ts';
import { decode, encode, helloAnswerSchema, WIRE_VERSION, type Hello } from '../../shared/wire.ts';
import { startNats } from '../harness/nats.ts';
import { atEnd, type Owner } from '../harness/owned.ts';
import { brokerOf } from './broker.ts';

const hello: Hello = {
  v: WIRE_VERSION,
  incarnation: 'i',
  ledger: 0,
  ordersHash: '',
  reportsHash: '',
};

type Wishes = Partial<Pick<HelloEdges, 'leads' | 'contextOf'>>;

/** What an agent gets for a hello of a cluster that nobody knows, unless the wishes say otherwise. */
async function asked(owner: Owner, wishes: Wishes = {}): Promise<Uint8Array> {
  const { connection } = await brokerOf(owner, await startNats(owner));
  const hellos = answerHellos({
    connection,
    log: makeLog({ name: 'test', level: 'silent' }),
    leads: () => true,
    contextOf: async () => undefined,
    onAsked: () => undefined,
    clock: Date.now,
    ...wishes,
  });
  atEnd(owner, () => hellos.close());
  await connection.flush();
  const reply = await connection.request(hubSubjects.hello('harbour'), encode(hello), { timeout: 1_000 });
  return reply.data;
}

test('a hello is answered', async (t) => {
  const contextOf: HelloEdges['contextOf'] = async () => ({
    ...{ cluster: 'harbour', orders: [], reports: [], term: 7, drained: true },
  });
  const answer = decode(helloAnswerSchema, await asked(t, { contextOf }));
  assert.ok(answer.kind === 'message');
  assert.equal(answer.message.term, 7);
});

test('a leader that cannot answer yet says so at once, and that is no answer', async (t) => {
  assert.equal(decode(helloAnswerSchema, await asked(t)).kind, 'malformed');
});

test('a hub that does not lead leaves the answer to the one that does', async (t) => {
  await assert.rejects(asked(t, { leads: () => false }), { name: 'TimeoutError' });
});
