/** A cluster of the fleet: what tells it apart, who may speak for it, how much it runs at once. */
import * as z from 'zod';
import { duration, freeMap, moment, stringMap, suspend } from './fields.ts';

const publicKey = z.strictObject({
  /** The agent's nkey; committing it is the approval, removing it the revocation. */
  key: z.string().regex(/^U[A-Z2-7]{55}$/, 'must be the public key of an agent: U and 55 letters or digits'),
  notAfter: moment.optional(),
});

const window = z.strictObject({
  cron: z.string().min(1),
  duration,
  timezone: z.string().min(1).optional(),
});

const defaults = z.strictObject({
  runner: z.enum(['process', 'job']).optional(),
  registries: z.array(z.string()).optional(),
  proxy: freeMap.optional(),
  caBundleRef: freeMap.optional(),
  pluginMirror: z.string().optional(),
  toolchain: stringMap.optional(),
});

export const clusterSpecSchema = z.strictObject({
  environment: z.string().min(1).optional(),
  /** Values of `{var:KEY}`. */
  vars: stringMap.optional(),
  publicKeys: z.array(publicKey).optional(),
  maxConcurrentRuns: z.number().int().min(1).max(10_000).optional(),
  windows: z.array(window).optional(),
  suspend: suspend.optional(),
  /** Silence after which the agent is shown as offline. */
  offlineAfter: duration.optional(),
  decommission: z.enum(['retain', 'destroy']).optional(),
  defaults: defaults.optional(),
  agent: z.strictObject({ version: z.string().optional() }).optional(),
});
export type ClusterSpec = z.infer<typeof clusterSpecSchema>;
