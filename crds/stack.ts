/** The Stack: what to run, where, under which policy. Fields are as written; defaults are applied when it is resolved. */
import * as z from 'zod';
import {
  anything,
  clusterSelection,
  duration,
  freeMap,
  objectName,
  stringMap,
  suspend,
  valueSource,
  variableName,
  wholeRef,
} from './fields.ts';
import { runSchema } from './run.ts';

const reference = z
  .strictObject({
    branch: z.string().optional(),
    tag: z.string().optional(),
    /** The tag with the highest version in this range. */
    semver: z.string().optional(),
    /** A whole commit id. */
    commit: z.string().optional(),
  })
  .refine((ref) => Object.keys(ref).length === 1, 'name one of branch, tag, semver and commit');

const source = z.strictObject({
  /** Folder of Pulumi.yaml, from the manifest's folder; a leading `/` is the repository's root. Default `.`. */
  dir: z.string().min(1).optional(),
  /** `self` or a repository by name; in another repository `dir` is relative to its root. */
  repository: z.string().min(1).optional(),
  ref: reference.optional(),
  include: z.array(z.string().min(1)).optional(),
  inferInputs: z.boolean().optional(),
  hermetic: z.boolean().optional(),
  /** A Program document instead of `dir`. */
  program: objectName.optional(),
});

const environmentVariable = z.strictObject({
  name: variableName,
  /** `null` takes the variable away that a farther layer has set. */
  value: z.string().nullable().optional(),
  valueFrom: valueSource.optional(),
});

const file = z.strictObject({
  /** From a folder that belongs to the run alone. */
  path: z.string().min(1),
  valueFrom: valueSource.optional(),
  secretKeyRef: valueSource.shape.secretKeyRef,
  configMapKeyRef: valueSource.shape.configMapKeyRef,
  /** Variable that holds the file's path. */
  env: variableName.optional(),
});

const dependency = z.strictObject({
  stack: z.string().min(1),
  cluster: z.string().optional(),
  outputs: stringMap.optional(),
  propagate: z.enum(['onOutputChange', 'orderOnly']).optional(),
});

const identity = z.strictObject({
  aws: freeMap.optional(),
  gcp: freeMap.optional(),
  azure: freeMap.optional(),
  vault: freeMap.optional(),
});

const runInputFields = {
  pulumiStack: z.string().min(1).optional(),
  backend: z
    .strictObject({ url: z.string().optional(), scope: z.enum(['fleet', 'cluster']).optional() })
    .optional(),
  secretsProvider: z.string().min(1).optional(),
  stackConfig: z.enum(['merge', 'ignore', 'require']).optional(),
  config: z.record(z.string().min(1), anything).optional(),
  configFrom: z
    .array(z.strictObject({ configMapRef: wholeRef.optional(), secretRef: wholeRef.optional() }))
    .optional(),
  configSecrets: z.record(z.string().min(1), valueSource).optional(),
  environments: z.array(z.string().min(1)).optional(),
  env: z.array(environmentVariable).optional(),
  envFrom: z
    .array(z.strictObject({ secretRef: wholeRef.optional(), configMapRef: wholeRef.optional() }))
    .optional(),
  files: z.array(file).optional(),
  serviceAccountName: objectName.optional(),
  identity: identity.optional(),
};

const policyFields = {
  onReferenceChange: z.record(z.string(), z.enum(['run', 'ignore'])).optional(),
  dependsOn: z.array(dependency).optional(),
  publishOutputs: z.array(z.string()).optional(),
  outputsTo: z
    .strictObject({
      secret: objectName.optional(),
      configMap: objectName.optional(),
      keys: z.array(z.string()).optional(),
    })
    .optional(),
  mode: z.enum(['apply', 'previewOnly']).optional(),
  create: z.enum(['ifMissing', 'never', 'adopt']).optional(),
  run: runSchema.optional(),
  retry: z
    .strictObject({
      maxAttempts: z.number().int().min(1).optional(),
      backoff: duration.optional(),
      maxBackoff: duration.optional(),
    })
    .optional(),
  drift: z
    .strictObject({
      every: duration.optional(),
      remediate: z.boolean().optional(),
      ignore: z.array(z.string()).optional(),
    })
    .optional(),
  approval: z
    .strictObject({
      when: z.enum(['never', 'any', 'destructive']).optional(),
      by: z.enum(['onePerson', 'twoPerson']).optional(),
    })
    .optional(),
  onFailure: z.enum(['none', 'rollback']).optional(),
  rollout: objectName.optional(),
  deletion: z
    .strictObject({
      policy: z.enum(['retain', 'destroy']).optional(),
      excludeProtected: z.boolean().optional(),
    })
    .optional(),
  state: z
    .strictObject({
      backup: z
        .strictObject({ url: z.string().optional(), keep: z.number().int().min(1).optional() })
        .optional(),
    })
    .optional(),
  suspend: suspend.optional(),
};

/** One set of fields for the clusters that it names; every match applies, in order. */
const override = z.strictObject({ clusters: clusterSelection, ...runInputFields, ...policyFields });

export const stackSpecSchema = z.strictObject({
  source: source.optional(),
  ...runInputFields,
  clusters: clusterSelection.optional(),
  overrides: z.array(override).optional(),
  ...policyFields,
  /** Opaque; a changed value means one more run. */
  runRequest: z.string().optional(),
  /** `namespace/name` that this identity had before. */
  renamedFrom: z.string().min(1).optional(),
  /** Says that leaving this Pulumi stack or backend is meant. */
  movedFrom: z
    .strictObject({ pulumiStack: z.string().optional(), backend: z.string().optional() })
    .optional(),
});
export type StackSpec = z.infer<typeof stackSpecSchema>;
export type Override = z.infer<typeof override>;
