/** Values for tests of the hub: whole and valid, with what a test cares about changed. */
import { detectAll } from '../../hub/detect.ts';
import type { Wanted, Placement } from '../../hub/placement.ts';
import type { RemovalManifest } from '../../hub/catalog/catalog.ts';
import type { PlanInput } from '../../hub/plan.ts';
import { WIRE_VERSION, type Order, type Report } from '../../shared/wire.ts';
import { plainPolicy } from '../harness/policy.ts';

export const NOW = Date.UTC(2026, 10, 30, 12);

const hexOf = (text: string): string => Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64);

export interface Named {
  readonly cluster?: string;
  readonly name?: string;
}

export function makePlacement(
  { cluster = 'harbour', name = 'web' }: Named,
  change: Partial<Placement> = {},
): Placement {
  const pulumiStack = `organization/${name}/${cluster}`;
  return {
    cluster,
    stack: { namespace: 'shop', name },
    origin: { repository: 'fleet', path: `stacks/${name}/stack.yaml`, line: 1 },
    source: { repository: 'fleet', project: `stacks/${name}`, include: [], inferInputs: true },
    inputs: { project: `stacks/${name}`, pulumiStack, config: { [`${name}:replicas`]: '3' } },
    policy: plainPolicy,
    claim: `file:///state ${pulumiStack}`,
    ...change,
  };
}

/** `content` stands for everything that makes the digest. */
export function makeWanted(
  named: Named & { readonly content?: string },
  change: Partial<Placement> = {},
): Wanted {
  const placement = makePlacement(named, change);
  const content = named.content ?? 'one';
  return {
    placement,
    inputDigest: `v1:${hexOf(content)}`,
    policyDigest: hexOf(JSON.stringify(placement.policy)),
    files: [
      { path: `${placement.source.project}/Pulumi.yaml`, mode: '100644', id: hexOf(content).slice(0, 40) },
    ],
    made: new Map(),
    large: new Map(),
  };
}

/** The order that a wanted placement would have got at `gen`. */
export function makeOrder(wanted: Wanted, change: Partial<Order> = {}): Order {
  const { placement } = wanted;
  return {
    v: WIRE_VERSION,
    gen: 100,
    term: 1,
    cluster: placement.cluster,
    stack: placement.stack,
    action: 'run',
    inputDigest: wanted.inputDigest,
    equals: [],
    policyDigest: wanted.policyDigest,
    claim: placement.claim,
    source: {
      repository: 'fleet',
      ref: 'refs/heads/main',
      commit: 'c0ffee'.padEnd(40, '0'),
      subject: 'a commit',
      author: 'someone',
      time: NOW - 60_000,
      manifest: placement.origin,
    },
    artifact: {
      name: hexOf('stored'),
      key: 'a2V5',
      size: 10,
      chunks: 1,
      sha256: hexOf('tar'),
      compression: 'zstd',
    },
    inputs: placement.inputs,
    policy: placement.policy,
    reasons: [{ code: 'NewPlacement', text: 'no order before' }],
    issuedAt: NOW - 60_000,
    ...(placement.runRequest === undefined ? {} : { runRequest: placement.runRequest }),
    ...change,
  };
}

export const keyOf = (order: Order): string =>
  `${order.cluster}/${order.stack.namespace}/${order.stack.name}`;

export const inForce = (...orders: readonly Order[]): ReadonlyMap<string, Order> =>
  new Map(orders.map((order) => [keyOf(order), order]));

export function makeReport(order: Order, change: Partial<Report> = {}): Report {
  return {
    v: WIRE_VERSION,
    ledger: 1,
    seq: 1,
    gen: order.gen,
    cluster: order.cluster,
    stack: order.stack,
    agent: `${order.cluster}-agent`,
    phase: 'Succeeded',
    reason: { code: 'RunSucceeded', text: 'done' },
    inputDigest: order.inputDigest,
    commit: order.source.commit,
    attempt: 1,
    at: NOW,
    ...change,
  };
}

export function makeRemoval(stack: string, change: Partial<RemovalManifest['spec']> = {}): RemovalManifest {
  return {
    origin: { repository: 'fleet', path: 'removals.yaml', line: 1 },
    name: 'let-go',
    labels: {},
    annotations: {},
    written: {},
    lines: {},
    spec: { stacks: [stack], mode: 'retain', expires: new Date(NOW + 3_600_000).toISOString(), ...change },
  };
}

/** What a pass would hand to the plan; what changed is detected from `wanted`, `inForce` and `knownFiles`. */
export interface PlanStory extends Partial<Omit<PlanInput, 'changes'>> {
  readonly knownFiles?: Parameters<typeof detectAll>[2];
}

export function makePlanInput({ knownFiles = () => undefined, ...change }: PlanStory = {}): PlanInput {
  return {
    changes: detectAll(change.wanted ?? [], change.inForce ?? new Map(), knownFiles),
    wanted: [],
    refused: [],
    unreadable: [],
    clusters: new Set(['harbour']),
    refusedClusters: new Map(),
    unread: new Map(),
    repositories: new Set(['fleet']),
    fleetRepositories: new Set(['fleet']),
    removals: [],
    inForce: new Map(),
    seenGen: new Map(),
    republish: new Map(),
    now: NOW,
    ...change,
  };
}
