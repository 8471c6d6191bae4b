import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ended } from '../../../agent/ledger/entry.ts';
import { statementOf } from '../../../agent/statement.ts';
import { limits } from '../../../shared/limits.ts';
import { encode } from '../../../shared/wire.ts';
import { attemptOf, endOf, entryOf, orderOf } from '../samples.ts';

test('a report fits into a message whatever the newest lines hold', () => {
  const tail = Array<string>(50).fill('\u0001'.repeat(limits.lineBytes));
  const end = endOf({
    result: 'failed',
    failure: 'Program',
    reason: { code: 'RunFailed', text: 'no' },
    tail,
  });
  const entry = ended(entryOf({ running: attemptOf(orderOf()) }), end, { incarnation: 'i', toolchain: {} });
  const view = { phase: 'Failed', reason: end.reason } as const;
  const report = statementOf(entry, view, { cluster: 'dev', agent: 'a', epoch: 1, seq: 1, now: 1 });
  assert.equal(report.tail?.length, limits.tailLines);
  assert.ok(encode(report).length < 512 * 1024, `${encode(report).length} bytes`);
});
