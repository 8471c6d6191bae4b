import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../hub/intake.ts';
import { MASK } from '../../hub/shapes.ts';
import { encode, type LastSuccess } from '../../shared/wire.ts';
import { makeOrder, makeReport, makeWanted } from './make.ts';

const order = makeOrder(makeWanted({}));
const subject = 'state.harbour.report.shop.web';
const secret = `ghp_${'a1'.repeat(18)}`;

test('a known shape in any text of a report is cut out; the last success stays as it is', () => {
  const lastSuccess: LastSuccess = {
    inputDigest: order.inputDigest,
    commit: 'c',
    artifact: { ...order.artifact, key: 'QUtJQVE3UTdRN1E3UTdRN1E3UTc=' },
    claim: order.claim,
    pulumiStack: 'organization/web/harbour',
    incarnation: 'i',
    at: 1,
  };
  const report = makeReport(order, {
    reason: { code: 'RunFailed', text: `bad ${secret}` },
    tail: ['line', `token=${secret}`],
    lock: { holder: secret },
    pendingCreates: [secret],
    lastSuccess,
  });
  const read = readReport({ subject, data: encode(report) }, 'harbour');
  assert.ok(read.kind === 'taken');
  assert.ok(!JSON.stringify(read.message).includes(secret));
  assert.equal(read.message.reason.text, `bad ${MASK}`);
  assert.deepEqual(read.message.lastSuccess, lastSuccess);
});

test('an error of a dropped message names fields, not values', () => {
  const data = new TextEncoder().encode(JSON.stringify({ ...makeReport(order), phase: secret }));
  const read = readReport({ subject, data }, 'harbour');
  assert.ok(read.kind === 'dropped');
  assert.match(read.error, /phase/);
  assert.ok(!read.error.includes(secret));
});
