/** The table of what is built. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { documentSchema, isDescribed, KINDS } from '../../crds/kinds.ts';
import type { Kind } from '../../crds/kinds.ts';
import { BUILT, notBuilt } from '../../crds/supported.ts';

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/** The schema at a path of the table. */
const at = (schema: Schema | undefined, path: readonly string[]): Schema | undefined =>
  path.reduce<Schema | undefined>((here, step) => {
    if (step !== '*') return here?.properties?.[step];
    return (
      here?.items ?? (typeof here?.additionalProperties === 'object' ? here.additionalProperties : undefined)
    );
  }, schema);

test('every row is a field of its kind', () => {
  for (const [kind, rows] of Object.entries(BUILT)) {
    const document = z.toJSONSchema(documentSchema(kind as Kind), { io: 'input' }) as Schema;
    for (const path of Object.keys(rows)) {
      assert.notEqual(at(document.properties?.['spec'], path.split('.')), undefined, `${kind} ${path}`);
    }
  }
});

test('exactly the kinds with a schema have rows', () => {
  assert.deepEqual(Object.keys(BUILT).sort(), KINDS.filter(isDescribed).sort());
});

const ROWS: readonly (readonly [kind: Kind, spec: unknown, paths: readonly string[]])[] = [
  ['Stack', {}, []],
  ['Stack', { config: { 'a:b': { c: [1] } }, run: { parallel: 3 }, clusters: { all: true } }, []],
  ['Stack', { source: { inferInputs: false, hermetic: false } }, []],
  ['Stack', { source: { inferInputs: false, ref: { branch: 'x' }, program: 'p' } }, ['source.program']],
  ['Stack', { mode: 'previewOnly', create: 'adopt', onFailure: 'rollback' }, ['mode', 'create', 'onFailure']],
  [
    'Stack',
    { run: { runner: 'job', image: '', hangTimeout: '1m', policyPacks: [] } },
    ['run.runner', 'run.image', 'run.hangTimeout', 'run.policyPacks'],
  ],
  [
    'Stack',
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }] },
    ['env.0.valueFrom.secretKeyRef'],
  ],
  [
    'Stack',
    { configSecrets: { k: { configMapKeyRef: {} } }, files: [{ path: 'a', secretKeyRef: {} }] },
    ['configSecrets.k.configMapKeyRef', 'files.0.secretKeyRef'],
  ],
  [
    'Stack',
    { overrides: [{ clusters: { all: true }, mode: 'previewOnly', config: { a: 1 } }] },
    ['overrides.0.mode'],
  ],
  [
    'Stack',
    { suspend: { mode: 'cancel', reason: 'x' }, deletion: { policy: 'destroy' } },
    ['suspend.mode', 'deletion.policy'],
  ],
  [
    'Stack',
    { dependsOn: [], retry: {}, drift: {}, identity: {}, rollout: 'x', renamedFrom: 'a/b' },
    ['dependsOn', 'retry', 'drift', 'identity', 'rollout', 'renamedFrom'],
  ],
  ['Defaults', { approval: { when: 'any', by: 'twoPerson' } }, ['approval.when', 'approval.by']],
  [
    'Cluster',
    { vars: { a: 'b' }, windows: [], decommission: 'retain', agent: {}, defaults: {} },
    ['windows', 'decommission', 'agent', 'defaults'],
  ],
  ['Fleet', { suspend: { mode: 'drain' }, deletionGuard: {} }, ['deletionGuard']],
  ['Removal', { mode: 'destroy', planDigest: 'x' }, ['mode', 'planDigest']],
];
for (const [kind, spec, paths] of ROWS) {
  test(`${kind} ${JSON.stringify(spec)}`, () => {
    assert.deepEqual(
      notBuilt(kind, spec).map(({ path }) => path.join('.')),
      paths,
    );
  });
}
