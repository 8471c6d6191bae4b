/** Field types that several kinds share: names, times, durations, selections of clusters. */
import * as z from 'zod';

/** DNS-1123 label, at most 63 characters: namespaces. */
export const labelName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be lower case letters, digits and “-” (DNS-1123)');

/** DNS-1123 subdomain, at most 253 characters: names of documents. */
export const objectName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'must be lower case letters, digits, “-” and “.” (DNS-1123)',
  );

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DURATION = /^([0-9]+(ms|s|m|h|d))+$/;

/** Ten years: what is added to a time must still be a whole number that a message can carry. */
const LONGEST_MS = 3_650 * 86_400_000;

/** A span of time such as `90s`, `1h30m` or `7d`; units ms, s, m, h, d. */
export const duration = z
  .string()
  .max(40)
  .regex(DURATION, { error: 'must be a duration such as 90s, 15m or 1h30m', abort: true })
  .refine((text) => durationMs(text) > 0, 'must be longer than nothing')
  .refine((text) => durationMs(text) <= LONGEST_MS, 'must be at most 3650d');

/** Milliseconds of a {@link duration}. */
export const durationMs = (text: string): number =>
  [...text.matchAll(/([0-9]+)(ms|s|m|h|d)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0),
    0,
  );

/** A moment with its zone, such as `2026-12-01T00:00:00Z`. */
export const moment = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/, {
    error: 'must be a time with its zone, such as 2026-12-01T00:00:00Z',
    abort: true,
  })
  .refine((text) => Number.isFinite(Date.parse(text)), 'is not a day and time that exists');

/** String to string, as in labels. */
export const stringMap = z.record(z.string(), z.string());

/** Labels: keys and values as Kubernetes has them. */
export const labelMap = z.record(
  z.string().max(317),
  z
    .string()
    .max(63)
    .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/, 'must be a label value (letters, digits, “-_.”)'),
);

/** Which labels a cluster must have; all conditions together. */
export const selector = z.strictObject({
  matchLabels: stringMap.optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});
export type Selector = z.infer<typeof selector>;

/** Clusters by names, by selector or all of them, minus `exclude`. */
export const clusterSelection = z.strictObject({
  names: z.array(objectName).optional(),
  selector: selector.optional(),
  exclude: z.array(objectName).optional(),
  all: z.boolean().optional(),
});
export type ClusterSelection = z.infer<typeof clusterSelection>;

/** Nothing new starts. `drain` lets a run finish, `cancel` stops it. */
export const suspend = z.strictObject({
  /** It travels in orders and stands in tables. */
  reason: z.string().max(1_000).optional(),
  until: moment.optional(),
  mode: z.enum(['drain', 'cancel']).optional(),
});
export type Suspend = z.infer<typeof suspend>;

/** A name that a shell accepts for a variable. */
export const variableName = z
  .string()
  .max(253)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name (letters, digits, “_”)');

const keyRef = z.strictObject({ name: objectName, key: z.string().min(1), optional: z.boolean().optional() });

/** Where a value comes from; exactly one of the four. `env` and `file` are the agent's own, by its allow-list. */
export const valueSource = z.strictObject({
  secretKeyRef: keyRef.optional(),
  configMapKeyRef: keyRef.optional(),
  env: z.string().min(1).optional(),
  file: z.string().min(1).optional(),
});
export type ValueSource = z.infer<typeof valueSource>;

/** A ConfigMap or Secret as a whole. */
export const wholeRef = z.strictObject({ name: objectName, optional: z.boolean().optional() });

/** Any structure: kept as written. */
export const anything = z.json();
export const freeMap = z.record(z.string(), anything);
