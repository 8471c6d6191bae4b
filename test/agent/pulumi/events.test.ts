import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deletionsOf, makeEventFold, type Outcome } from '../../../agent/pulumi/events.ts';

const URN = 'urn:pulumi:dev::web::pulumi-nodejs:dynamic:Resource::file';
const STACK = 'urn:pulumi:dev::web::pulumi:pulumi:Stack::web-dev';
const PROVIDER = 'urn:pulumi:dev::web::pulumi:providers:pulumi-nodejs::default';

const step = (kind: 'resourcePreEvent' | 'resOutputsEvent', op: string, urn: string): object => ({
  [kind]: { metadata: { op, urn, type: 't', new: { inputs: { password: 'hunter2' } } } },
});
const summary = (result: string, resourceChanges: Record<string, number>): object => ({
  summaryEvent: { maybeCorrupt: false, resourceChanges, result },
});

function fold(...events: readonly (object | string)[]): Outcome {
  const folding = makeEventFold();
  for (const event of events) folding.push(typeof event === 'string' ? event : JSON.stringify(event));
  return folding.outcome();
}

test('a run that creates: counts of the summary, changed resources in order, no value of any resource', () => {
  const outcome = fold(
    { preludeEvent: { config: { 'web:password': 'hunter2' } } },
    step('resourcePreEvent', 'same', STACK),
    step('resourcePreEvent', 'create', PROVIDER),
    step('resOutputsEvent', 'create', PROVIDER),
    step('resourcePreEvent', 'create', URN),
    step('resOutputsEvent', 'create', URN),
    step('resOutputsEvent', 'same', STACK),
    summary('succeeded', { create: 1, same: 1 }),
    { cancelEvent: {} },
  );
  assert.deepEqual(outcome.changes, { create: 1, update: 0, delete: 0, replace: 0, same: 1 });
  assert.deepEqual(outcome.resources, [{ op: 'create', urn: URN }]);
  assert.deepEqual(outcome.summary, { result: 'succeeded' });
  assert.ok(!JSON.stringify(outcome).includes('hunter2'));
});

test('events of severity debug are dropped, errors are kept with their resource', () => {
  const outcome = fold(
    { diagnosticEvent: { severity: 'debug', message: 'RegisterResource RPC finished: hunter2' } },
    { diagnosticEvent: { severity: 'info', message: 'hello' } },
    { diagnosticEvent: { severity: 'error', message: 'boom', urn: URN } },
    { diagnosticEvent: { severity: 'error', message: 'and more', urn: '' } },
    { resOpFailedEvent: { metadata: { op: 'create', urn: URN } } },
    summary('failed', {}),
  );
  assert.deepEqual(outcome.errors, [{ text: 'boom', urn: URN }, { text: 'and more' }]);
  assert.equal(outcome.failedResources, 1);
});

test('a killed run has no summary: what was done is counted', () => {
  const outcome = fold(step('resOutputsEvent', 'create', URN), step('resourcePreEvent', 'create', `${URN}2`));
  assert.equal(outcome.summary, undefined);
  assert.equal(outcome.changes.create, 1);
  assert.equal(outcome.planned.length, 1);
});

test('a replacement is one, whether it is counted as a whole or in halves', () => {
  assert.equal(fold(summary('succeeded', { replace: 2 })).changes.replace, 2);
  assert.equal(
    fold(summary('succeeded', { 'create-replacement': 2, 'delete-replaced': 2 })).changes.replace,
    2,
  );
});

test('what a preview would delete: deletes and replacements, each resource once, but no default provider', () => {
  const outcome = fold(
    step('resourcePreEvent', 'create', `${URN}1`),
    step('resourcePreEvent', 'update', `${URN}2`),
    step('resourcePreEvent', 'delete', `${URN}3`),
    step('resourcePreEvent', 'delete', PROVIDER),
    step('resourcePreEvent', 'create-replacement', `${URN}4`),
    step('resourcePreEvent', 'replace', `${URN}4`),
    step('resourcePreEvent', 'delete-replaced', `${URN}4`),
  );
  assert.deepEqual(
    deletionsOf(outcome).map(({ urn }) => urn),
    [`${URN}3`, `${URN}4`],
  );
});

test('a line that was cut still says which resource it is about; any other broken line is nothing', () => {
  const line = JSON.stringify(step('resOutputsEvent', 'update', `${URN}"x`));
  const outcome = fold(
    line.slice(0, line.indexOf('hunter2')),
    '{"summaryEvent":{"result":"succ',
    '',
    'null',
    'x',
  );
  assert.deepEqual(outcome.resources, [{ op: 'update', urn: `${URN}"x` }]);
  assert.equal(outcome.summary, undefined);
});

test('memory is bounded, counts are not', () => {
  const many = Array.from({ length: 1_500 }, (_, n) => step('resOutputsEvent', 'create', `${URN}${n}`));
  const outcome = fold(...many, summary('succeeded', { create: 1_500 }));
  assert.equal(outcome.resources.length, 1_000);
  assert.equal(outcome.changes.create, 1_500);
});
