/** A state that is asked for pending creates, with a stand-in for what the CLI answers. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { NotReady } from '../../agent/executor.ts';
import { tempFolder } from '../harness/temp.ts';
import { jobOf, makeBed, notReady, PASSPHRASE, yamlProgram } from './bed.ts';
import { fakePulumi } from './fake.ts';

/** What keeps an unsure run from starting when the CLI gives this as the state. */
async function asked(t: TestContext, state: string): Promise<NotReady> {
  const folder = await tempFolder(t);
  await writeFile(join(folder, 'exported'), state);
  const pulumi = await fakePulumi(folder, 'exit 1');
  const bed = await makeBed(t, { pulumi });
  return notReady(bed.executor, jobOf(await bed.order(yamlProgram()), { first: false, unsure: true }));
}

test('names of pending creates leave redacted', async (t) => {
  const urn = `urn:pulumi:dev::web::a:b:C::${PASSPHRASE}`;
  const pending_operations = [{ type: 'creating', resource: { urn } }];
  const verdict = await asked(t, JSON.stringify({ version: 3, deployment: { pending_operations } }));
  assert.ok(verdict.kind === 'hold', JSON.stringify(verdict));
  assert.deepEqual(verdict.pendingCreates, ['urn:pulumi:dev::web::a:b:C::[secret]']);
});

test('a state that cannot be read ends the attempt, and nothing of it is told', async (t) => {
  const verdict = await asked(t, '{"version":3,"deployment":{"canary-value": oops');
  assert.ok(verdict.kind === 'failed', JSON.stringify(verdict));
  assert.equal(verdict.reason.text, 'the answer of the Pulumi CLI could not be read');
});
