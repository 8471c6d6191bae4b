/** What zod finds wrong with a document → sentences that name the field, the value and the remedy. */
import * as z from 'zod';
import type { Path } from './documents.ts';
import { didYouMean } from '../nearest.ts';

/** Longest value that is repeated in a message. */
const SHOWN_VALUE = 60;
/** More fields than these are not listed in a message; the documentation has them. */
const LISTED_FIELDS = 12;

/** Something wrong at a field. */
export interface FieldFault {
  readonly path: Path;
  readonly text: string;
}

/** `spec.env[0].value`, `spec.config["web:replicas"]`. */
export const printPath = (path: Path): string =>
  path
    .map((step, index) => {
      if (typeof step === 'number' || /^\d+$/.test(step)) return `[${step}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');

/** A value as JSON, cut when it is long. */
export function printValue(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= SHOWN_VALUE ? text : `${text.slice(0, SHOWN_VALUE)}…`;
}

/** Everything that the schema finds wrong with a value. */
export function fieldFaults(schema: z.ZodType, value: unknown): FieldFault[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(schema, value, issue));
}

function faultsOf(schema: z.ZodType, root: unknown, issue: z.core.$ZodIssue): FieldFault[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], text: unknownField(path, key, known) }));
  }
  const value = valueAt(root, path);
  return [{ path, text: `${printPath(path)} ${describe(issue, value)}` }];
}

function unknownField(path: Path, key: string, known: readonly string[]): string {
  const hint = didYouMean(key, known);
  const fields =
    hint === '' && known.length > 0 && known.length <= LISTED_FIELDS
      ? `; the fields here are ${[...known].sort().join(', ')}`
      : hint;
  return `${printPath([...path, key])} is not a field${fields}`;
}

function describe(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'is missing';
  const shown = printValue(value);
  if (issue.code === 'invalid_type') {
    return `must be ${nounOf(issue.expected)}, is ${shown}${quoteHint(issue.expected, value)}`;
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const hint = didYouMean(typeof value === 'string' ? value : '', values);
    return `is ${shown}, must be ${alternatives(values)}${hint}`;
  }
  if (issue.code === 'too_small') {
    return issue.origin === 'number' ? `is ${shown}, must be at least ${issue.minimum}` : empty(issue);
  }
  if (issue.code === 'too_big') {
    return `is ${shown}, must be at most ${issue.maximum}${issue.origin === 'number' ? '' : ' long'}`;
  }
  return `is ${shown}: ${lowerFirst(issue.message)}`;
}

/** Texts and lists have no other lower bound than one; some say better what is missing. */
const empty = (issue: z.core.$ZodIssue): string =>
  issue.message.startsWith('Too small') ? 'must not be empty' : issue.message;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** `“a”`, `“a” or “b”`, `“a”, “b” or “c”`. */
export function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `“${value}”`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
};
const nounOf = (expected: string): string => NOUNS[expected] ?? expected;

const quoteHint = (expected: string, value: unknown): string =>
  expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')
    ? ': put it in quotes'
    : '';

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[step] : undefined,
    root,
  );
}

/** The names of the fields that a schema has at a path. */
function fieldsAt(schema: z.core.$ZodType, path: Path): string[] {
  const found = path.reduce<z.core.$ZodType | undefined>((at, step) => stepInto(at, step), schema);
  const bare = found === undefined ? undefined : unwrap(found);
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
}

function stepInto(schema: z.core.$ZodType | undefined, step: string | number): z.core.$ZodType | undefined {
  const bare = schema === undefined ? undefined : unwrap(schema);
  if (bare instanceof z.ZodObject) return bare.shape[step] as z.core.$ZodType | undefined;
  if (bare instanceof z.ZodArray) return bare.element;
  return bare instanceof z.ZodRecord ? bare.valueType : undefined;
}

const unwrap = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrap(schema.unwrap()) : schema;
