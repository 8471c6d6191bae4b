/** The fleet as a whole; at most one document. */
import * as z from 'zod';
import { duration, suspend } from './fields.ts';

export const fleetSpecSchema = z.strictObject({
  suspend: suspend.optional(),
  /** How much may be destroyed in a span of time. */
  deletionGuard: z
    .strictObject({
      maxPercent: z.number().int().min(0).max(100).optional(),
      maxCount: z.number().int().min(0).optional(),
      per: duration.optional(),
    })
    .optional(),
});
export type FleetSpec = z.infer<typeof fleetSpecSchema>;
