/** Orders and entries for the agent's tests. */
import type { Ending, PlacementEntry } from '../../agent/ledger/ledger.ts';
import type { RunEnd } from '../../agent/executor.ts';
import { WIRE_VERSION, type LastSuccess, type Order } from '../../shared/wire.ts';
import { plainPolicy } from '../harness/policy.ts';

export const CLUSTER = 'dev';
export const INCARNATION = 'cluster-1';
export const stack = { namespace: 'apps', name: 'web' };

/** A digest that is easy to tell from others. */
export const digest = (letter: string): string => `v1:${letter.repeat(64)}`;

export const artifact = {
  name: 'a'.repeat(64),
  key: 'a2V5',
  size: 10,
  chunks: 1,
  sha256: 'b'.repeat(64),
  compression: 'zstd',
} as const;

export const orderOf = (more: Partial<Order> = {}): Order => ({
  v: WIRE_VERSION,
  gen: 10,
  term: 1,
  cluster: CLUSTER,
  stack,
  action: 'run',
  inputDigest: digest('a'),
  equals: [],
  policyDigest: 'p1',
  claim: 'file:///state organization/web/dev',
  source: {
    repository: 'fleet',
    ref: 'main',
    commit: 'c0ffee',
    subject: 'change web',
    author: 'somebody',
    time: 1,
    manifest: { repository: 'fleet', path: 'stacks/web.yaml', line: 1 },
  },
  artifact,
  inputs: { project: '.', pulumiStack: 'organization/web/dev' },
  policy: { ...plainPolicy, timeoutMs: 60_000, parallel: 10, message: 'm' },
  reasons: [],
  issuedAt: 1,
  ...more,
});

export const successOf = (more: Partial<LastSuccess> = {}): LastSuccess => ({
  incarnation: INCARNATION,
  inputDigest: digest('a'),
  commit: 'c0ffee',
  artifact,
  claim: orderOf().claim,
  pulumiStack: 'organization/web/dev',
  at: 5,
  ...more,
});

export const endingOf = (more: Partial<Ending> = {}): Ending => ({
  runId: 'r1',
  gen: 10,
  inputDigest: digest('a'),
  number: 1,
  result: 'failed',
  failure: 'Program',
  reason: { code: 'RunFailed', text: 'it broke' },
  startedAt: 1,
  finishedAt: 2,
  ...more,
});

export const entryOf = (more: Partial<PlacementEntry> = {}): PlacementEntry => ({
  stack,
  gen: more.order?.gen ?? 10,
  order: orderOf(),
  acceptedAt: 1,
  records: [],
  ...more,
});

export const attemptOf = (order: Order, runId = 'r1'): NonNullable<PlacementEntry['running']> => ({
  attempt: {
    runId,
    gen: order.gen,
    inputDigest: order.inputDigest,
    commit: order.source.commit,
    number: 1,
    process: { pid: 4711, startTime: '99', bootId: 'boot' },
    startedAt: 1,
    timeoutMs: 60_000,
  },
  order,
  trigger: { code: 'InputChanged', text: 'changed' },
});

export const noChanges = { create: 0, update: 0, delete: 0, replace: 0, same: 1 };

export const endOf = (more: Partial<RunEnd> = {}): RunEnd => ({
  result: 'succeeded',
  reason: { code: 'RunSucceeded', text: 'done' },
  changes: noChanges,
  resources: [],
  tail: ['last line'],
  finishedAt: 3,
  ...more,
});
