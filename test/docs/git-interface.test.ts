/** What people commit, as documented, is what is built. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { clusterSpecSchema } from '../../crds/cluster.ts';
import { fleetSpecSchema } from '../../crds/fleet.ts';
import { KINDS } from '../../crds/kinds.ts';
import { removalSpecSchema } from '../../crds/removal.ts';
import { stackSpecSchema } from '../../crds/stack.ts';
import { BUILT } from '../../crds/supported.ts';
import type { Problem } from '../../hub/catalog/catalog.ts';
import { readCatalog } from '../../hub/catalog/read.ts';
import { parseRepositories } from '../../hub/config.ts';
import { blocksOf, codesIn, readPage, sectionOf, tableOf } from './page.ts';

const page = readPage('git-interface.md');
const schemas = {
  Stack: stackSpecSchema,
  Cluster: clusterSpecSchema,
  Fleet: fleetSpecSchema,
  Removal: removalSpecSchema,
} as const;

type Row = readonly [string, true | readonly (string | boolean)[]];

const rowsOf = (kind: keyof typeof schemas): readonly Row[] => Object.entries(BUILT[kind] ?? {});
const isInOverrides = ([path]: Row): boolean =>
  path.startsWith('overrides.*.') && path !== 'overrides.*.clusters';

/** Fields of a schema, two levels deep, that no row of what is built takes in. */
function unbuiltFields(kind: keyof typeof schemas): readonly string[] {
  const built = rowsOf(kind).map(([path]) => path);
  const missing = (path: string): boolean => !built.some((row) => row === path || row.startsWith(`${path}.`));
  return Object.entries(schemas[kind].shape).flatMap(([key, field]) => {
    if (missing(key)) return [key];
    const inner = (field instanceof z.ZodOptional ? field.unwrap() : field) as z.ZodType;
    if (built.includes(key) || !(inner instanceof z.ZodObject)) return [];
    return Object.keys(inner.shape as object)
      .map((step) => `${key}.${step}`)
      .filter(missing);
  });
}

for (const kind of ['Stack', 'Cluster', 'Fleet', 'Removal'] as const) {
  const table = tableOf(sectionOf(page, `### Fields of a ${kind}`));

  test(`${kind}: the fields and values of the page are those that are built`, () => {
    const documented = table.map(([field = '', values = '']) => [codesIn(field)[0], codesIn(values)]);
    const built = rowsOf(kind)
      .filter((row) => !isInOverrides(row))
      .map(([path, values]) => [path, values === true ? [] : values.map(String)]);
    assert.deepEqual(documented.toSorted(), built.toSorted());
  });

  test(`${kind}: the fields that the page calls not built are not`, () => {
    const documented = codesIn(
      sectionOf(page, `### Fields of a ${kind} that are not built`).split('\n\n')[0] ?? '',
    );
    assert.deepEqual(documented.toSorted(), unbuiltFields(kind).toSorted());
  });

  test(`${kind}: every field says what it means`, () => {
    for (const row of table) assert.ok((row.at(-1) ?? '').length > 0, row[0]);
  });
}

test('the page says which fields may stand in overrides', () => {
  const documented = tableOf(sectionOf(page, '### Fields of a Stack'))
    .filter(([, , overrides]) => overrides === 'yes')
    .map(([field = '']) => `overrides.*.${codesIn(field)[0]}`);
  const built = rowsOf('Stack').filter(isInOverrides);
  assert.deepEqual(documented.toSorted(), built.map(([path]) => path).toSorted());
});

test('the kinds that the page calls not built are those without a row', () => {
  const documented = codesIn(sectionOf(page, '## Kinds that are not built'));
  assert.deepEqual(
    documented,
    KINDS.filter((kind) => BUILT[kind] === undefined),
  );
});

function problemsOf(manifest: string): readonly Problem[] {
  const content = Buffer.from(manifest);
  return readCatalog([{ repository: 'fleet', trust: 'fleet', path: 'a.yaml', content }], 0).problems;
}

const examples = blocksOf(page, 'yaml');

for (const example of examples.filter((text) => text.includes('apiVersion: towline.dev'))) {
  const [, refusal] = /^# refused: (\w+)/.exec(example) ?? [];
  const title = /^kind: (\w+)/m.exec(example)?.[1] ?? '';

  test(`the example of a ${title} is ${refusal === undefined ? 'accepted' : 'refused, as it says'}`, () => {
    assert.deepEqual(
      problemsOf(example).map(({ code }) => code),
      refusal === undefined ? [] : [refusal],
    );
  });
}

test('every kind that is built has an example', () => {
  const kinds = examples.map((text) => /^kind: (\w+)/m.exec(text)?.[1]);
  for (const kind of Object.keys(BUILT)) assert.ok(kinds.includes(kind), kind);
});

test('the example of a list of repositories is one', () => {
  const [example = ''] = examples.filter((text) => text.startsWith('repositories:'));
  const read = parseRepositories('repositories.yaml', example);
  assert.deepEqual(read.kind === 'errors' ? read.errors : [], []);
});
