/** Defaults: a Stack's fields for all Stacks of this folder and below; the nearest wins, field by field. */
import type { z } from 'zod';
import { stackSpecSchema } from './stack.ts';

/** What names one stack's past cannot be a default. `source.dir` counts from the Stack's own folder. */
export const defaultsSpecSchema = stackSpecSchema.omit({ renamedFrom: true, movedFrom: true });
export type DefaultsSpec = z.infer<typeof defaultsSpecSchema>;
