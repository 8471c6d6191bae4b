/** Generated definitions: committed as they are, and what an API server takes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { manifests, stackDefinition, structural } from '../../crds/manifest.ts';
import type { Schema } from '../../crds/manifest.ts';

for (const [name, text] of Object.entries(manifests())) {
  test(`crds/${name} is what is generated`, async () => {
    assert.equal(await readFile(join(import.meta.dirname, '../../crds', name), 'utf8'), text);
  });
}

const ALLOWED = new Set([
  'additionalProperties',
  'enum',
  'items',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'nullable',
  'pattern',
  'properties',
  'required',
  'type',
  'x-kubernetes-preserve-unknown-fields',
]);

/** What makes a schema not structural, by path. */
function faults(schema: Schema, path: string): string[] {
  const {
    type,
    properties = {},
    additionalProperties,
    items,
  } = schema as {
    type?: string;
    properties?: Record<string, Schema>;
    additionalProperties?: Schema;
    items?: Schema;
  };
  const free = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return [
    ...Object.keys(schema)
      .filter((keyword) => !ALLOWED.has(keyword))
      .map((keyword) => `${path}: ${keyword}`),
    ...(type === undefined && !free ? [`${path}: no type`] : []),
    ...(schema['properties'] !== undefined && additionalProperties !== undefined
      ? [`${path}: properties and more`]
      : []),
    ...(type === 'array' && items === undefined ? [`${path}: no items`] : []),
    ...Object.entries(properties).flatMap(([key, inner]) => faults(inner, `${path}.${key}`)),
    ...(additionalProperties === undefined ? [] : faults(additionalProperties, `${path}.*`)),
    ...(items === undefined ? [] : faults(items, `${path}[]`)),
  ];
}

interface Definition {
  spec: { versions: { schema: { openAPIV3Schema: Schema } }[] };
}

test('the schema of Stack is structural', () => {
  const definition = stackDefinition() as unknown as Definition;
  const schema = definition.spec.versions[0]?.schema.openAPIV3Schema;
  assert.ok(schema);
  assert.deepEqual(faults(schema, ''), []);
});

test('what zod makes of closed objects and of free values is not, and is mended', () => {
  const generated = {
    type: 'object',
    properties: {
      free: { type: 'object', additionalProperties: { $ref: '#/definitions/x' } },
      any: { $ref: '#/definitions/x' },
    },
    additionalProperties: false,
    definitions: { x: {} },
  };
  assert.notDeepEqual(faults(generated, ''), []);
  const mended = structural(generated);
  assert.deepEqual(faults(mended, ''), []);
  assert.deepEqual(mended, {
    type: 'object',
    properties: {
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
    },
  });
});
