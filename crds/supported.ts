/**
 * What is built: the one table of kinds, fields and values. Anything else that a document says explicitly is refused,
 * since a field that is silently without effect is worse than one that is missing.
 */
import type { Kind } from './kinds.ts';

/** `true`: the field with all below it. A list: these values only. `*` in a path is any key or index. */
type Built = Readonly<Record<string, true | readonly (string | boolean)[]>>;

const STACK_FIELDS: Built = {
  pulumiStack: true,
  backend: true,
  secretsProvider: true,
  stackConfig: true,
  config: true,
  'configSecrets.*.env': true,
  'configSecrets.*.file': true,
  'env.*.name': true,
  'env.*.value': true,
  'env.*.valueFrom.env': true,
  'env.*.valueFrom.file': true,
  'files.*.path': true,
  'files.*.valueFrom.env': true,
  'files.*.valueFrom.file': true,
  'files.*.env': true,
  mode: ['apply'],
  create: ['ifMissing', 'never'],
  'run.runner': ['process'],
  'run.refresh': true,
  'run.targets': true,
  'run.excludes': true,
  'run.replace': true,
  'run.parallel': true,
  'run.continueOnError': true,
  'run.runProgram': true,
  'run.install': true,
  'run.build': true,
  'run.pendingCreates': true,
  'run.message': true,
  'run.timeout': true,
  'run.weight': true,
  'run.priority': true,
  'run.concurrencyGroup': true,
  'approval.when': ['never'],
  onFailure: ['none'],
  'deletion.policy': ['retain'],
  'suspend.reason': true,
  'suspend.until': true,
  'suspend.mode': ['drain'],
};

/** What Defaults may say as well. */
const SHARED: Built = {
  ...STACK_FIELDS,
  'source.dir': true,
  'source.repository': true,
  'source.ref': true,
  'source.include': true,
  'source.inferInputs': true,
  'source.hermetic': true,
  clusters: true,
  'overrides.*.clusters': true,
  ...Object.fromEntries(Object.entries(STACK_FIELDS).map(([path, row]) => [`overrides.*.${path}`, row])),
  runRequest: true,
};

/** A kind without a row is not built. */
export const BUILT: Readonly<Partial<Record<Kind, Built>>> = {
  Stack: { ...SHARED, movedFrom: true },
  Defaults: SHARED,
  Cluster: {
    environment: true,
    vars: true,
    publicKeys: true,
    maxConcurrentRuns: true,
    'suspend.reason': true,
    'suspend.until': true,
    'suspend.mode': ['drain'],
    offlineAfter: true,
  },
  Fleet: { 'suspend.reason': true, 'suspend.until': true, 'suspend.mode': ['drain'] },
  Removal: { stacks: true, clusters: true, mode: ['retain'], expires: true },
};

/** A field of a spec that is not built, or not with this value. */
export interface NotBuilt {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The values that are built, where there are any. */
  readonly built: readonly (string | boolean)[];
}

interface Step {
  row?: true | readonly (string | boolean)[];
  readonly next: Map<string, Step>;
}

const trees = new Map<Kind, Step>(
  Object.entries(BUILT).map(([kind, built]) => [kind as Kind, treeOf(built)] as const),
);

function treeOf(built: Built): Step {
  const root: Step = { next: new Map() };
  for (const [path, row] of Object.entries(built)) {
    let step = root;
    for (const part of path.split('.')) {
      const next: Step = step.next.get(part) ?? { next: new Map() };
      step.next.set(part, next);
      step = next;
    }
    step.row = row;
  }
  return root;
}

/** Everything in a spec (without its nulls) that is not built; empty when all of it is. */
export function notBuilt(kind: Kind, spec: unknown): NotBuilt[] {
  const tree = trees.get(kind);
  return tree === undefined ? [] : walk(tree, spec, []);
}

function walk(step: Step, value: unknown, path: readonly string[]): NotBuilt[] {
  if (step.row === true) return [];
  if (step.row !== undefined) {
    return (step.row as readonly unknown[]).includes(value) ? [] : [{ path, value, built: step.row }];
  }
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const next = step.next.get(key) ?? step.next.get('*');
    const here = [...path, key];
    return next === undefined ? [{ path: here, value: inner, built: [] }] : walk(next, inner, here);
  });
}
