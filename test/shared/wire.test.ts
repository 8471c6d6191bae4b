import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import {
  artifactRefSchema,
  beatSchema,
  clusterOrderSchema,
  decode,
  encode,
  helloAnswerSchema,
  helloSchema,
  logChunkSchema,
  orderSchema,
  reportSchema,
  runRecordSchema,
  type WIRE_VERSION,
} from '../../shared/wire.ts';
import { valuesOf } from './arbitrary.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

type Message = { v: typeof WIRE_VERSION };

const schemas: Readonly<Record<string, z.ZodType<Message>>> = {
  order: orderSchema,
  clusterOrder: clusterOrderSchema,
  report: reportSchema,
  run: runRecordSchema,
  log: logChunkSchema,
  hello: helloSchema,
  helloAnswer: helloAnswerSchema,
  beat: beatSchema,
};

for (const [name, schema] of Object.entries(schemas)) {
  const messages = valuesOf(schema) as fc.Arbitrary<Message>;

  test(`${name}: what is sent is what is read`, () => {
    fc.assert(
      fc.property(messages, (message) => {
        // As JSON has it, which knows no minus zero.
        const expected = JSON.parse(JSON.stringify(message)) as Message;
        assert.deepEqual(decode(schema, encode(message)), { kind: 'message', message: expected });
      }),
      { numRuns: 50 },
    );
  });

  test(`${name}: fields of a later release are ignored`, () => {
    fc.assert(
      fc.property(messages, (message) => {
        const later = { ...message, addedLater: { deep: [1] } };
        assert.deepEqual(decode(schema, encode(later)), decode(schema, encode(message)));
      }),
      { numRuns: 20 },
    );
  });

  test(`${name}: another version is refused as such, whatever else it holds`, () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 2 }), (message, version) => {
        const later = bytes(JSON.stringify({ ...message, v: version }));
        assert.deepEqual(decode(schema, later), { kind: 'unknownVersion', version });
      }),
      { numRuns: 20 },
    );
  });

  test(`${name}: a message without any one of its fields, or with another type there, is malformed`, () => {
    const [message] = fc.sample(messages, { numRuns: 1, seed: 1 });
    for (const key of Object.keys(message ?? {}).filter((field) => field !== 'v')) {
      const wrong = bytes(JSON.stringify({ ...message, [key]: () => 0 }));
      const odd = bytes(JSON.stringify({ ...message, [key]: { odd: Number.NaN } }));
      const required = !isOptional(schema, key);
      assert.equal(decode(schema, wrong).kind, required ? 'malformed' : 'message', key);
      assert.equal(decode(schema, odd).kind, 'malformed', key);
    }
  });
}

const isOptional = (schema: z.ZodType, key: string): boolean =>
  (schema as z.ZodObject<Record<string, z.ZodType>>).shape[key]?.safeParse(undefined).success === true;

const foreign: readonly [string, string, string][] = [
  ['an empty body, as of a 404 or 503', '', 'malformed'],
  ['text', 'no responders', 'malformed'],
  ['half a message', '{"v":1,"gen":', 'malformed'],
  ['bytes that are no text', '\uD800', 'malformed'],
  ['a publish acknowledgement', '{"stream":"STATE_harbour","seq":7}', 'unknownVersion'],
  [
    'an error of JetStream',
    '{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}}',
    'unknownVersion',
  ],
  ['null', 'null', 'unknownVersion'],
  ['a number', '1', 'unknownVersion'],
  ['a list', '[1]', 'unknownVersion'],
  ['the version as text', '{"v":"1"}', 'unknownVersion'],
  ['nothing but the version', '{"v":1}', 'malformed'],
];

for (const [name, body, expected] of foreign) {
  test(`${name} is taken for no message`, () => {
    for (const schema of Object.values(schemas)) assert.equal(decode(schema, bytes(body)).kind, expected);
  });
}

test('any bytes at all are read without a throw', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (body) => {
      for (const schema of Object.values(schemas)) assert.notEqual(decode(schema, body).kind, 'message');
    }),
  );
});

test('what is malformed says which field', () => {
  const read = decode(beatSchema, bytes('{"v":1,"agent":"a","version":"1","free":-1,"running":[]}'));
  assert.equal(read.kind, 'malformed');
  assert.match(read.kind === 'malformed' ? read.error : '', /free[\s\S]*settledHash/);
});

test('the name of an artifact is a hash and nothing that could be a path or a subject', () => {
  const [ref] = fc.sample(valuesOf(artifactRefSchema), { numRuns: 1, seed: 1 });
  for (const name of ['..', 'a.b', '>', '*', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}\n`])
    assert.equal(artifactRefSchema.safeParse({ ...(ref as object), name }).success, false, name);
});
