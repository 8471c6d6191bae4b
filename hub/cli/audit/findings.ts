/** What was looked at and is not declared, with the lines that add it. Pure. */
import { posix } from 'node:path';
import { includeOf, isPartial, undeclaredAt, type Surroundings } from '../../../shared/surroundings.ts';
import type { Asked } from './trace.ts';

/** One thing that a program looked at without declaring it. */
export interface Finding {
  /** From the repository's root; the names of a folder were asked for where it ends with `/`. */
  readonly path: string;
  /** The line for `source.include`; absent for a manifest, which is never an input. */
  readonly include?: string;
}

/** Each thing once, sorted; `root` is the repository's. */
export function findingsOf(
  asked: readonly Asked[],
  { root, surroundings }: { readonly root: string; readonly surroundings: Surroundings },
): Finding[] {
  const found: Finding[] = [];
  for (const { path: full, list } of asked) {
    const path = posix.relative(root, full) || '.';
    if (path === '..' || path.startsWith('../')) continue;
    const finding = findingAt(path, list, surroundings);
    if (finding !== undefined) found.push(finding);
  }
  return tidied(found);
}

/** Each once, sorted, without what lies in a folder that is named as well. */
export function tidied(findings: readonly Finding[]): Finding[] {
  const all = new Map(findings.map((finding) => [finding.path, finding]));
  const isCovered = (path: string): boolean =>
    [...all.keys()].some((other) => other !== path && other.endsWith('/') && path.startsWith(other));
  return [...all.values()].filter(({ path }) => !isCovered(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
}

function findingAt(path: string, list: boolean, surroundings: Surroundings): Finding | undefined {
  // nothing is known of closed folders but what the trace itself says: it was there
  const undeclared = undeclaredAt(surroundings, () => false, path);
  if (undeclared !== undefined)
    return noted(undeclared.include, undeclared.certainty === 'rule' && isManifest(path));
  return list && isPartial(surroundings, path) ? noted(includeOf(`${path}/`), false) : undefined;
}

/** Left out by rule, but no settings of a stack. */
const isManifest = (path: string): boolean => !posix.basename(path).startsWith('Pulumi.');

const noted = (include: string, never: boolean): Finding => {
  const path = include.slice(1).replaceAll(/\\(.)/g, '$1') || './';
  return never ? { path } : { path, include };
};

/** The same from a line of the guard. */
export const fromGuard = ({ include, kind }: { readonly include: string; readonly kind: string }): Finding =>
  noted(include, kind === 'rule' && isManifest(include));

/** For people. */
export function printFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'the program looked at nothing that is not declared\n';
  const lines = findings.map(({ path, include }) =>
    include === undefined
      ? `  # ${path} is a manifest, which is never an input`
      : `  - ${JSON.stringify(include)}`,
  );
  return `the program looked at what is not declared; these lines of source.include add it:\n${lines.join('\n')}\n`;
}
