import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerHello, type HelloContext, type HelloOutcome } from '../../hub/resync.ts';
import { limits } from '../../shared/limits.ts';
import { hashesOf, saysOf } from '../../shared/resync.ts';
import { WIRE_VERSION, type Hello, type Order, type Report } from '../../shared/wire.ts';
import { makeOrder, makeReport, makeWanted, NOW } from './make.ts';

const web = makeOrder(makeWanted({ name: 'web' }), { gen: 100 });
const report = makeReport(web, { seq: 7 });
const stack = web.stack;

const contextOf = (change: Partial<HelloContext> = {}): HelloContext => ({
  cluster: 'harbour',
  orders: [web],
  reports: [report],
  term: 3,
  now: NOW,
  drained: true,
  suspects: new Map(),
  ...change,
});

function helloOf(held: { gen: number; seq: number } | undefined, change: Partial<Hello> = {}): Hello {
  const rows = held === undefined ? [] : [{ stack, says: saysOf(web), ...held, phase: 'Succeeded' as const }];
  const hashes = hashesOf(rows);
  return {
    v: WIRE_VERSION,
    incarnation: 'i',
    ledger: 1,
    ordersHash: hashes.orders,
    reportsHash: hashes.reports,
    ...change,
  };
}

const listOf = (held: { gen: number; seq: number; says?: string }): Hello =>
  helloOf(held, { list: [{ ...stack, says: saysOf(web), ...held }] });

/** The same hello twice, the second one after the time that confirms a difference. */
function twice(hello: Hello, context: HelloContext): HelloOutcome {
  const first = answerHello(hello, context);
  assert.equal(first.republish.size, 0);
  return answerHello(hello, {
    ...context,
    now: context.now + limits.helloConfirmMs,
    suspects: first.suspects,
  });
}

test('equal hashes end it', () => {
  const { answer } = answerHello(helloOf({ gen: 100, seq: 7 }), contextOf());
  assert.deepEqual(answer, { v: 1, term: 3, epoch: 1, needList: false, resend: [] });
});

test('a difference asks for the whole list', () => {
  for (const held of [{ gen: 99, seq: 7 }, { gen: 100, seq: 8 }, undefined]) {
    assert.equal(answerHello(helloOf(held), contextOf()).answer.needList, true);
  }
});

test('an order that no report answers is looked for in the list', () => {
  const running: Report = { ...report, phase: 'Running', gen: 99 };
  assert.equal(answerHello(helloOf(undefined), contextOf({ reports: [running] })).answer.needList, true);
});

const differences: readonly [
  string,
  { gen: number; seq: number; says?: string },
  Partial<HelloContext>,
  string | undefined,
][] = [
  ['the agent has it', { gen: 100, seq: 7 }, {}, undefined],
  ['the agent is behind and has read all', { gen: 90, seq: 7 }, {}, 'the agent has generation 90 only'],
  ['the agent is behind and still reads', { gen: 90, seq: 7 }, { drained: false }, undefined],
  [
    'the agent has another order of this generation',
    { gen: 100, seq: 7, says: 'run v1:other' },
    {},
    'the agent has another order of generation 100',
  ],
  ['the agent could not read it', { gen: 100, seq: 7, says: '' }, {}, undefined],
  ['the stream went back in time', { gen: 120, seq: 7 }, {}, 'the agent has generation 120, the stream 100'],
];

for (const [name, held, change, why] of differences) {
  test(`${name}: ${why === undefined ? 'nothing' : 'published again'}`, () => {
    const outcome = twice(listOf(held), contextOf(change));
    assert.deepEqual([...outcome.republish], why === undefined ? [] : [['harbour/shop/web', why]]);
    assert.equal(outcome.seenGen.get('harbour/shop/web'), held.gen);
  });
}

test('a difference seen once asks for another hello, and is forgotten when it is gone', () => {
  const first = answerHello(listOf({ gen: 90, seq: 7 }), contextOf());
  assert.equal(first.answer.againMs, limits.helloConfirmMs);
  const healed = answerHello(listOf({ gen: 100, seq: 7 }), contextOf({ suspects: first.suspects }));
  assert.equal(healed.suspects.size, 0);
  assert.equal(healed.answer.againMs, undefined);
});

test('an agent that is behind and still reads is asked again, and what it lacks then is published', () => {
  const first = answerHello(listOf({ gen: 90, seq: 7 }), contextOf({ drained: false }));
  assert.deepEqual([first.republish.size, first.answer.againMs], [0, limits.helloConfirmMs]);
  const later = { suspects: first.suspects, now: NOW + limits.helloConfirmMs };
  assert.equal(
    answerHello(listOf({ gen: 90, seq: 7 }), contextOf({ ...later, drained: false })).republish.size,
    0,
  );
  assert.equal(answerHello(listOf({ gen: 90, seq: 7 }), contextOf(later)).republish.size, 1);
});

const reports: readonly [string, readonly Report[], { gen: number; seq: number }, boolean][] = [
  ['the board has it', [report], { gen: 100, seq: 7 }, false],
  ['the board has none', [], { gen: 100, seq: 7 }, true],
  ['the board has an older one', [report], { gen: 100, seq: 9 }, true],
  ['the board has one of an older ledger', [{ ...report, ledger: 0, seq: 50 }], { gen: 100, seq: 9 }, true],
  ['there was never one', [], { gen: 100, seq: 0 }, false],
];

for (const [name, board, held, resend] of reports) {
  test(`reports: ${name}: ${resend ? 'sent again' : 'nothing'}`, () => {
    const { answer } = answerHello(listOf(held), contextOf({ reports: board }));
    assert.deepEqual(answer.resend, resend ? [stack] : []);
  });
}

test('only a new ledger is given seeds', () => {
  const lastSuccess: NonNullable<Report['lastSuccess']> = {
    incarnation: 'i',
    inputDigest: web.inputDigest,
    commit: web.source.commit,
    artifact: web.artifact,
    claim: web.claim,
    pulumiStack: web.inputs.pulumiStack,
    at: NOW,
  };
  const context = contextOf({ reports: [{ ...report, lastSuccess }] });
  assert.equal(answerHello(helloOf(undefined), context).answer.seed, undefined);
  const { answer } = answerHello(helloOf(undefined, { ledger: 0 }), context);
  assert.deepEqual(answer.seed, [{ stack, gen: 100, lastSuccess }]);
  const doubtful = contextOf({ reports: [{ ...report, lastSuccess, unclean: true }] });
  const warned = answerHello(helloOf(undefined, { ledger: 0 }), doubtful).answer;
  assert.deepEqual(warned.seed, [{ stack, gen: 100, lastSuccess, unclean: true }]);
});

test('the epoch is the highest that reports of this cluster carry', () => {
  const orders: readonly Order[] = [web];
  const { answer } = answerHello(
    helloOf(undefined),
    contextOf({ orders, reports: [{ ...report, ledger: 42 }] }),
  );
  assert.equal(answer.epoch, 42);
});
