import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { digestV1, policyDigest } from '../../../hub/digest/v1.ts';
import type { FileMode, TreeEntry } from '../../../hub/git/source.ts';
import { placementOf } from '../inputs/tree.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const inputs = { project: 'stacks/web', pulumiStack: 'organization/web/prod' };
const file = (path: string, id = A, mode: FileMode = '100644'): TreeEntry => ({ path, mode, id });

/** Committed once: a digest that changes here would run every stack of every fleet. */
const GOLDEN: readonly (readonly [Parameters<typeof digestV1>[0], readonly TreeEntry[], string])[] = [
  [inputs, [], 'v1:68a6f5fd4ba96c033e3aebb4cc68094a8629965f7657fdb29677e06e04355081'],
  [
    inputs,
    [file('stacks/web/Pulumi.yaml'), file('stacks/web/index.ts', B, '100755')],
    'v1:c9a8582ea0d876ce59664bca66e98f63ef0ba43f2a3ab509c6edbef8bbd1f40e',
  ],
  [
    {
      ...inputs,
      config: { 'web:replicas': '3', 'web:tags': { b: [1, true, null], a: 'ü' } },
      env: [{ name: 'A', value: '1' }],
      refresh: true,
    },
    [file('l', A, '120000'), file('v', B, '160000'), file('🚀'), file('\uffee')],
    'v1:96462759fb1a64083f0dc84ad93e1e96d560046712ae045197069f558e8c6016',
  ],
];

test('golden vectors', () => {
  for (const [given, files, digest] of GOLDEN) assert.equal(digestV1(given, files), digest);
});

const path = fc
  .array(fc.constantFrom('a', 'b', '/', ' ', '"', ',', '\n', '[', 'ü', '\udcff'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''));
const entry = fc.record({
  path,
  mode: fc.constantFrom<FileMode[]>('100644', '100755', '120000', '160000'),
  id: fc.constantFrom(A, B),
});
const files = fc.uniqueArray(entry, { selector: (each) => each.path, maxLength: 6 });

test('the order of the files does not matter, everything else does', () => {
  const key = (list: readonly TreeEntry[]): string =>
    JSON.stringify(
      [...list].sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ path: p, mode, id }) => [p, mode, id]),
    );
  fc.assert(
    fc.property(files, files, (one, other) => {
      assert.equal(digestV1(inputs, one), digestV1(inputs, [...one].reverse()));
      assert.equal(digestV1(inputs, one) === digestV1(inputs, other), key(one) === key(other));
    }),
    { numRuns: 1_000 },
  );
});

test('a change of one file or one input changes it', () => {
  const list = [file('a'), file('b')];
  const digests = [
    digestV1(inputs, list),
    digestV1(inputs, [file('a'), file('c')]),
    digestV1(inputs, [file('a'), file('b', B)]),
    digestV1(inputs, [file('a'), file('b', A, '100755')]),
    digestV1(inputs, [file('a')]),
    digestV1({ ...inputs, project: 'stacks/other' }, list),
    digestV1({ ...inputs, config: {} }, list),
    digestV1({ ...inputs, config: { a: '1' } }, list),
    digestV1({ ...inputs, config: { a: 1 } }, list),
    digestV1(
      {
        ...inputs,
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
      list,
    ),
    digestV1(
      {
        ...inputs,
        env: [
          { name: 'B', value: '2' },
          { name: 'A', value: '1' },
        ],
      },
      list,
    ),
  ];
  assert.equal(new Set(digests).size, digests.length);
  assert.equal(digestV1({ pulumiStack: inputs.pulumiStack, project: inputs.project }, list), digests[0]);
});

test('the policy digest covers the policy and what goes with it', () => {
  const { policy } = placementOf({ project: '.' });
  const digests = [
    policyDigest(policy),
    policyDigest({ ...policy, weight: 2 }),
    policyDigest(policy, { runRequest: 'x' }),
  ];
  assert.equal(new Set(digests).size, 3);
  assert.equal(policyDigest({ ...policy }), digests[0]);
});
