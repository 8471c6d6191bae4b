/**
 * What watches the programs of a run from inside their processes: a preload for Node.js and a start-up module for Python,
 * and the plan that both read. In a bundle they lie beside it as they lie here beside this file.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TOOL_NAMES, type PartialFolder, type Surroundings } from './surroundings.ts';

/** Folder with the sources of both. */
export const guardFolder = (): string => fileURLToPath(new URL('./guard', import.meta.url));

const PRELOAD = 'preload.cjs';
/** The name under which Python looks for it. */
const START_UP = 'sitecustomize.py';

/** All of them. */
export const GUARD_FILES: readonly string[] = [PRELOAD, START_UP];

/** As the two of them read it; see guard/preload.cjs. */
export interface GuardPlan {
  /** The folder of the run's files, by each of its names. */
  readonly roots: readonly string[];
  readonly folders: Readonly<Record<string, PartialFolder & { readonly present?: readonly string[] }>>;
  readonly tools: readonly string[];
  /** A file that questions are noted in instead of being refused. */
  readonly report?: string;
}

/** `presentIn`: names in a closed folder that are there. */
export const guardPlan = (
  surroundings: Surroundings,
  roots: readonly string[],
  presentIn: (folder: string) => readonly string[],
): GuardPlan => ({
  roots: [...new Set(roots)],
  folders: Object.fromEntries(
    Object.entries(surroundings).map(([folder, partial]) => [
      folder,
      partial.closed === true ? { ...partial, present: presentIn(folder) } : partial,
    ]),
  ),
  tools: TOOL_NAMES,
});

/** Variables that put both into every process, in front of what is there already. */
export function guardEnvironment(
  folder: string,
  plan: string,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const { NODE_OPTIONS: options = '', PYTHONPATH: path = '' } = environment;
  return {
    NODE_OPTIONS: `--require=${JSON.stringify(join(folder, PRELOAD))}${options === '' ? '' : ` ${options}`}`,
    PYTHONPATH: path === '' ? folder : `${folder}:${path}`,
    TOWLINE_GUARD: plan,
  };
}
