/** A decision that placements may go. Names are exact: a decision that forgets something is not guessed from a pattern. */
import * as z from 'zod';
import { moment, objectName } from './fields.ts';

const stackIdentity = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    'must be namespace/name of a stack, such as shop/web',
  );

export const removalSpecSchema = z.strictObject({
  stacks: z.array(stackIdentity).min(1, 'names no stack: name what may go'),
  /** Left out: these stacks on every cluster. */
  clusters: z.array(objectName).min(1, 'names no cluster: leave it out to mean every cluster').optional(),
  mode: z.enum(['retain', 'destroy']),
  /** The destroy preview that is agreed to. */
  planDigest: z.string().min(1).optional(),
  /** After it, the decision decides nothing any more. */
  expires: moment,
});
export type RemovalSpec = z.infer<typeof removalSpecSchema>;
