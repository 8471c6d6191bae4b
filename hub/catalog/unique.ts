/** Every identity belongs to one document; where two claim it, neither counts. */
import { posix } from 'node:path';
import type { Problem } from './catalog.ts';
import { printOrigin } from '../problem.ts';
import type { Entry } from './reading.ts';

export interface Unique {
  /** Those that are alone, and those that are not with the problem of that. */
  readonly entries: readonly Entry[];
  readonly problems: readonly Problem[];
}

/** Marks all that share an identity, also with a document that is refused for another reason. */
export function markDuplicates(entries: readonly Entry[]): Unique {
  const groups = Map.groupBy(entries, claimOf);
  const problems: Problem[] = [];
  const marked = entries.map((entry) => {
    const others = (groups.get(claimOf(entry)) ?? []).filter((other) => other !== entry);
    if (others.length === 0) return entry;
    const problem = duplicateProblem(entry, others);
    problems.push(problem);
    const { origin, identity } = entry;
    return { origin, identity, problem };
  });
  return { entries: marked, problems };
}

/** There is one Fleet, one Defaults a folder, and one of each name otherwise. */
function claimOf({ identity: { kind, namespace, name }, origin: { repository, path } }: Entry): string {
  if (kind === 'Fleet') return kind;
  if (kind === 'Defaults') return `${kind} ${repository}:${posix.dirname(path)}`;
  return `${kind} ${namespace ?? ''}/${name}`;
}

const CLAIMS: Readonly<Record<string, string>> = {
  Fleet: 'there is more than one Fleet',
  Defaults: 'this folder has more than one Defaults',
};

function duplicateProblem({ identity, origin }: Entry, others: readonly Entry[]): Problem {
  const elsewhere = others.map((other) => printOrigin(other.origin)).join(', ');
  const claim = CLAIMS[identity.kind] ?? 'the same identity stands twice';
  const text = `${claim}, also at ${elsewhere}: keep one; until then none of them counts`;
  return { severity: 'error', code: 'DuplicateIdentity', origin, identity, text };
}
