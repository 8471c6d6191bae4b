/** The kinds of our API group, with what each needs to be read. */
import * as z from 'zod';
import { clusterSpecSchema } from './cluster.ts';
import { defaultsSpecSchema } from './defaults.ts';
import { labelMap, labelName, objectName, stringMap } from './fields.ts';
import { fleetSpecSchema } from './fleet.ts';
import { removalSpecSchema } from './removal.ts';
import { stackSpecSchema } from './stack.ts';

export const GROUP = 'towline.dev';
export const VERSION = 'v1';
export const API_VERSION = `${GROUP}/${VERSION}`;

export const KINDS = [
  'Stack',
  'Cluster',
  'Defaults',
  'Fleet',
  'Removal',
  'Approval',
  'Operation',
  'Program',
  'Rollout',
  'Tenant',
] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds whose names are unique within a namespace; those of the others are unique in the fleet. */
export const NAMESPACED: ReadonlySet<Kind> = new Set<Kind>(['Stack', 'Program']);

/** Kinds that decide about the whole fleet: only repositories with `trust: fleet` may hold them. */
export const FLEET_ONLY: ReadonlySet<Kind> = new Set<Kind>(['Cluster', 'Tenant', 'Rollout', 'Fleet']);

/** The namespace of a document that names none. */
export const DEFAULT_NAMESPACE = 'default';

const commonMetadata = {
  name: objectName,
  labels: labelMap.optional(),
  annotations: stringMap.optional(),
};
const fleetMetadata = z.strictObject(commonMetadata);
const namespacedMetadata = z.strictObject({ ...commonMetadata, namespace: labelName.optional() });

const SPECS = {
  Stack: stackSpecSchema,
  Cluster: clusterSpecSchema,
  Defaults: defaultsSpecSchema,
  Fleet: fleetSpecSchema,
  Removal: removalSpecSchema,
} as const satisfies Partial<Record<Kind, z.ZodObject>>;

/** Kinds that have a schema. */
export type DescribedKind = keyof typeof SPECS;

/** Whether a text is a kind, letter by letter. */
export const isKind = (text: unknown): text is Kind => (KINDS as readonly unknown[]).includes(text);
/** Whether a kind has a schema; the others are only recognised. */
export const isDescribed = (kind: Kind): kind is DescribedKind => kind in SPECS;

const describe = (kind: Kind): z.ZodObject =>
  z.strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal(kind),
    metadata: NAMESPACED.has(kind) ? namespacedMetadata : fleetMetadata,
    spec: isDescribed(kind) ? SPECS[kind] : z.unknown(),
  });

const documents = new Map(KINDS.map((kind) => [kind, describe(kind)] as const));

/** A whole document of a kind; the specs of kinds without a schema are not looked into. */
export const documentSchema = (kind: Kind): z.ZodObject => documents.get(kind) ?? describe(kind);
