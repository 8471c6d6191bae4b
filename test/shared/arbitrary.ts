/** Values that a schema accepts, for properties over all messages. */
import fc, { type Arbitrary } from 'fast-check';
import { z } from 'zod';

/** Throws for a kind of schema that no message has had so far. */
export function valuesOf(schema: z.ZodType): Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) return objectsOf(schema);
  if (schema instanceof z.ZodArray)
    return fc.array(valuesOf(schema.element as z.ZodType), { minLength: leastOf(schema), maxLength: 3 });
  if (schema instanceof z.ZodRecord)
    return fc.dictionary(fc.string({ maxLength: 8 }), valuesOf(schema.valueType as z.ZodType), {
      maxKeys: 3,
    });
  if (schema instanceof z.ZodUnion)
    return fc.oneof(...schema.options.map((option) => valuesOf(option as z.ZodType)));
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodLazy) return fc.jsonValue({ maxDepth: 2 });
  return scalarsOf(schema);
}

function objectsOf(schema: z.ZodObject): Arbitrary<unknown> {
  const fields = Object.entries(schema.shape).map(([key, field]) => {
    const optional = field instanceof z.ZodOptional;
    return { key, optional, values: valuesOf((optional ? field.unwrap() : field) as z.ZodType) };
  });
  return fc.record(Object.fromEntries(fields.map(({ key, values }) => [key, values])), {
    requiredKeys: fields.filter(({ optional }) => !optional).map(({ key }) => key),
    noNullPrototype: true,
  });
}

function scalarsOf(schema: z.ZodType): Arbitrary<unknown> {
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNumber)
    return fc.integer({ min: Math.max(schema.minValue ?? -100, -100) + 1, max: 2 ** 45 });
  if (schema instanceof z.ZodString) {
    const pattern = schema.def.checks
      ?.map((check) => check._zod.def as { pattern?: RegExp })
      .find((def) => def.pattern);
    return pattern?.pattern === undefined
      ? fc.string({ minLength: schema.minLength ?? 0, maxLength: 20 })
      : fc.stringMatching(pattern.pattern);
  }
  throw new Error(`no values known for a schema of type ${schema.type}`);
}

/** The least length that a schema of a list asks for. */
const leastOf = (schema: z.ZodArray): number =>
  z.toJSONSchema(schema, { unrepresentable: 'any' }).minItems ?? 0;
