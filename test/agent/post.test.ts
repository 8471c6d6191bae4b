import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOutbox } from '../../agent/outbox.ts';
import { makePost } from '../../agent/post.ts';
import { openFileLedger } from '../../agent/ledger/file.ts';
import type { JetStreamClient } from '../../shared/nats.ts';
import { WIRE_VERSION, type RunRecord } from '../../shared/wire.ts';
import { atEnd } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { CLUSTER, INCARNATION } from './samples.ts';

const record: RunRecord = {
  v: WIRE_VERSION,
  runId: 'run-1',
  gen: 1,
  cluster: CLUSTER,
  stack: { namespace: 'apps', name: 'web' },
  inputDigest: 'd',
  commit: 'c',
  kind: 'update',
  attempt: 1,
  trigger: { code: 'NewPlacement', text: 'new' },
  result: 'succeeded',
  startedAt: 1,
  finishedAt: 2,
  changes: { create: 0, update: 0, delete: 0, replace: 0, same: 1 },
  resources: [],
  toolchain: {},
};

test('a finished run is sent once, however often its placement is looked at meanwhile', async (context) => {
  const folder = await tempFolder(context, 'post');
  const ledger = await openFileLedger({ folder, incarnation: INCARNATION, onDamage: () => undefined });
  atEnd(context, () => ledger.close());
  await ledger.update(record.stack, () => ({ stack: record.stack, gen: 1, records: [record] }));
  const outbox = makeOutbox({ firstMs: 1, longestMs: 1, onError: () => undefined });
  atEnd(context, () => outbox.close());
  const under = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let sent = 0;
  const publish = async (): Promise<void> => {
    sent += 1;
    under.resolve();
    await answer.promise;
  };
  const post = makePost({ ledger, outbox, js: async () => ({ publish }) as unknown as JetStreamClient });
  post.record(record);
  await under.promise;
  post.record(record);
  answer.resolve();
  await outbox.idle(AbortSignal.timeout(10_000));
  assert.equal(sent, 1);
  assert.deepEqual(ledger.entries.get('apps/web')?.records, []);
});
