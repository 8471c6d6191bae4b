/** `spec.run` of a Stack: how the Pulumi CLI is called. */
import * as z from 'zod';
import { duration, freeMap } from './fields.ts';

export const runSchema = z.strictObject({
  runner: z.enum(['process', 'job']).optional(),
  image: z.string().optional(),
  resources: freeMap.optional(),
  /** Refresh the state within the update. */
  refresh: z.boolean().optional(),
  targets: z.array(z.string().min(1)).optional(),
  excludes: z.array(z.string().min(1)).optional(),
  replace: z.array(z.string().min(1)).optional(),
  /** Resource operations at a time. */
  parallel: z.number().int().min(1).max(10_000).optional(),
  continueOnError: z.boolean().optional(),
  runProgram: z.boolean().optional(),
  policyPacks: z.array(z.string()).optional(),
  /** `auto`: dependencies by lockfile. */
  install: z.enum(['auto', 'none']).optional(),
  /** Commands with their arguments, run in the project folder after the install. */
  build: z.array(z.array(z.string()).min(1)).optional(),
  /** What to do about creates whose outcome the state does not know. */
  pendingCreates: z.enum(['hold', 'clear']).optional(),
  message: z.string().max(1_024).optional(),
  timeout: duration.optional(),
  hangTimeout: duration.optional(),
  /** Slots of the cluster that this run takes. */
  weight: z.number().int().min(1).max(1_000).optional(),
  /** Higher ones start first. */
  priority: z.number().int().min(-1_000_000).max(1_000_000).optional(),
  /** At most one run of a group at a time in a cluster. */
  concurrencyGroup: z.string().min(1).max(253).optional(),
});
