/** The paths of the programs that Towline starts, for whoever starts them. */
import type { Environment } from './cache.ts';
import { wanted, type Wanted } from './catalog.ts';
import { decide } from './decide.ts';
import { lookFor } from './look.ts';

export interface Tools {
  readonly natsServer: string;
  /** Language hosts and the provider of dynamic resources lie beside it. */
  readonly pulumi: string;
}

/** A program is missing or will not do. The message says which and what to do. */
export class ToolMissing extends Error {}

/** Looks, but builds nothing: environment variable, PATH, cache. Rejects with ToolMissing. */
export async function findTools(environment: Environment): Promise<Tools> {
  const [natsServer, pulumi] = await Promise.all([
    findTool(wanted.natsServer, environment),
    findTool(wanted.pulumi, environment),
  ]);
  return { natsServer, pulumi };
}

async function findTool(want: Wanted, environment: Environment): Promise<string> {
  const decision = decide(want, await lookFor(want, environment));
  switch (decision.kind) {
    case 'use':
      return decision.path;
    case 'refuse':
      throw new ToolMissing(decision.reason);
    case 'build':
      throw new ToolMissing(
        `${want.name} ${want.atLeast} or newer was not found${decision.passedOver === undefined ? '' : ` (${decision.passedOver})`}: ` +
          `run “make tools”, or set ${want.variable} to its path`,
      );
  }
}
