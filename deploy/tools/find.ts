/** The paths of the programs that Towline starts, for whoever starts them. */
import { openWorkshop, type Environment, type Workshop } from './cache.ts';
import { wanted, type Wanted } from './catalog.ts';
import { decide, type Decision } from './decide.ts';
import { lookFor } from './look.ts';

export interface Tools {
  readonly natsServer: string;
  /** Language hosts and the provider of dynamic resources lie beside it. */
  readonly pulumi: string;
}

/** A program is missing or will not do. The message says which and what to do. */
export class ToolMissing extends Error {}

/** Looks, but builds nothing: environment variable, PATH, cache. Rejects with ToolMissing, which names all that lack. */
export async function findTools(environment: Environment): Promise<Tools> {
  const workshop = await openWorkshop(environment);
  const find = async (want: Wanted): Promise<string> => {
    const found = await lookUp(want, workshop);
    if (found.kind === 'use') return found.path;
    throw new ToolMissing(notFound(want, found.passedOver));
  };
  const [natsServer, pulumi] = await Promise.allSettled([find(wanted.natsServer), find(wanted.pulumi)]);
  if (natsServer.status === 'fulfilled' && pulumi.status === 'fulfilled')
    return { natsServer: natsServer.value, pulumi: pulumi.value };
  const reasons = [natsServer, pulumi].flatMap((one) =>
    one.status === 'rejected' ? [one.reason as unknown] : [],
  );
  const other = reasons.find((reason) => !(reason instanceof ToolMissing));
  if (other !== undefined) throw other as Error;
  throw new ToolMissing(reasons.map((reason) => (reason as ToolMissing).message).join('\n'));
}

/** What to do about one program. Rejects with ToolMissing when a person named one that will not do. */
export async function lookUp(
  want: Wanted,
  workshop: Workshop,
): Promise<Exclude<Decision, { readonly kind: 'refuse' }>> {
  const decision = decide(want, await lookFor(want, workshop));
  if (decision.kind === 'refuse') throw new ToolMissing(decision.reason);
  return decision;
}

function notFound(want: Wanted, passedOver: string | undefined): string {
  const because = passedOver === undefined ? '' : ` (${passedOver})`;
  return (
    `${want.name} ${want.atLeast} or newer was not found${because}: ` +
    `run “make tools”, or set ${want.variable} to its path`
  );
}
