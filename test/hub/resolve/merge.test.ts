/** Layers of a spec. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { stackSpecSchema } from '../../../crds/stack.ts';
import type { Fields } from '../../../hub/fields.ts';
import { withoutNulls } from '../../../hub/nulls.ts';
import { mergeLayers } from '../../../hub/resolve/merge.ts';

const ROWS: readonly (readonly [what: string, layers: readonly Fields[], merged: Fields])[] = [
  ['nothing', [], {}],
  [
    'maps merge',
    [{ run: { parallel: 1, weight: 1 } }, { run: { parallel: 2 } }],
    { run: { parallel: 2, weight: 1 } },
  ],
  [
    'lists replace',
    [{ run: { targets: ['a', 'b'] } }, { run: { targets: ['c'] } }],
    { run: { targets: ['c'] } },
  ],
  [
    'null takes away',
    [
      { config: { a: '1', b: '2' }, mode: 'apply' },
      { config: { a: null }, mode: null },
    ],
    { config: { b: '2' } },
  ],
  ['null of nothing is nothing', [{ run: { timeout: null } }], { run: {} }],
  [
    'what comes back is only what the nearest says',
    [{ run: { weight: 1 } }, { run: null }, { run: { parallel: 2 } }],
    { run: { parallel: 2 } },
  ],
  [
    'a nearer choice of clusters replaces',
    [{ clusters: { names: ['a'], exclude: ['b'] } }, { clusters: { all: true } }],
    { clusters: { all: true, exclude: ['b'] } },
  ],
  [
    'a nearer exclusion does not',
    [{ clusters: { all: true } }, { clusters: { exclude: ['b'] } }],
    { clusters: { all: true, exclude: ['b'] } },
  ],
  [
    'a reference is one value',
    [{ configSecrets: { k: { env: 'A' } } }, { configSecrets: { k: { file: 'b' } } }],
    { configSecrets: { k: { file: 'b' } } },
  ],
  [
    'structured config merges',
    [{ config: { k: { a: 1, l: [1] } } }, { config: { k: { l: [null, 2] } } }],
    { config: { k: { a: 1, l: [null, 2] } } },
  ],
  [
    'variables merge by name',
    [
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '1' },
        ],
      },
      {
        env: [
          { name: 'B', valueFrom: { env: 'X' } },
          { name: 'A', value: null },
        ],
      },
    ],
    { env: [{ name: 'B', valueFrom: { env: 'X' } }] },
  ],
  [
    'names of objects are names here',
    [{ config: { constructor: 'a', toString: 'b' } }, { config: { x: 'c' } }],
    { config: { constructor: 'a', toString: 'b', x: 'c' } },
  ],
];
for (const [what, layers, merged] of ROWS) {
  test(what, () => {
    assert.deepEqual(mergeLayers(layers), merged);
  });
}

const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 4 });
const word = fc.constantFrom('a', 'b', 'c');
const layer = fc.record(
  {
    pulumiStack: orNull(word),
    config: orNull(fc.dictionary(word, orNull(fc.oneof(word, fc.dictionary(word, orNull(word)))))),
    env: orNull(
      fc.uniqueArray(fc.record({ name: word, value: orNull(word) }), { selector: ({ name }) => name }),
    ),
    clusters: orNull(
      fc.record(
        { names: orNull(fc.array(word)), all: orNull(fc.boolean()), exclude: orNull(fc.array(word)) },
        { requiredKeys: [] },
      ),
    ),
    configSecrets: orNull(
      fc.dictionary(word, orNull(fc.record({ env: orNull(word), file: orNull(word) }, { requiredKeys: [] }))),
    ),
    run: orNull(
      fc.record(
        { weight: orNull(fc.integer({ min: 1, max: 9 })), targets: orNull(fc.array(word)) },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Fields>;
const layers = fc.array(layer, { maxLength: 4 });

test('merged layers have no nulls left and keep to the schema', () => {
  fc.assert(
    fc.property(layers, (some) => {
      const merged = mergeLayers(some);
      assert.deepEqual(merged, withoutNulls({ ...merged }));
      assert.deepEqual(stackSpecSchema.safeParse(merged).error, undefined);
    }),
  );
});

test('the nearest layer that speaks of a field wins', () => {
  fc.assert(
    fc.property(layers, word, (some, key) => {
      const merged = mergeLayers(some);
      const stacks = some.map(({ pulumiStack }) => pulumiStack).filter((value) => value !== undefined);
      assert.equal(merged['pulumiStack'] ?? null, stacks.at(-1) ?? null);
      const variables = some.flatMap(({ env }) => (Array.isArray(env) ? [env] : env === null ? [null] : []));
      const since = variables.slice(variables.lastIndexOf(null) + 1).flat() as {
        name: string;
        value: string | null;
      }[];
      const wanted = since.findLast(({ name }) => name === key)?.value ?? undefined;
      const found = (merged['env'] as { name: string; value: string }[] | undefined)?.find(
        ({ name }) => name === key,
      );
      assert.equal(found?.value, wanted);
    }),
  );
});

test('merging step by step from afar is the same as at once, and nothing twice changes nothing', () => {
  fc.assert(
    fc.property(layers, layers, (far, near) => {
      assert.deepEqual(mergeLayers([mergeLayers(far), ...near]), mergeLayers([...far, ...near]));
      const merged = mergeLayers([...far, ...near]);
      assert.deepEqual(mergeLayers([merged, {}]), merged);
    }),
  );
});
