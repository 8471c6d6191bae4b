/** `paths` and `baseUrl` of a tsconfig.json: what an import means that is not relative. */
import { sha256 } from '../../../shared/canonical.ts';
import { inside } from '../paths.ts';

export type Mapping = {
  /** Folder that names are looked for in; null: in none. */
  readonly base: string | null;
  /** Pattern with at most one `*`, and paths from the repository's root that may have one as well. */
  readonly paths: [string, string[]][];
};

/** Equal mappings have equal keys; most projects have none, and share what is found with each other. */
export const mappingKey = (mappings: readonly Mapping[]): string =>
  mappings.length === 0 ? '' : sha256(JSON.stringify(mappings));

/** Paths that a specifier may mean, the preferred one first. */
export function mappedPaths(specifier: string, { base, paths }: Mapping): string[] {
  const best = paths
    .filter(([pattern]) => starOf(pattern, specifier) !== undefined)
    .sort(([a], [b]) => fixedLength(b) - fixedLength(a))[0];
  const mapped = best?.[1].map((path) => path.replace('*', () => starOf(best[0], specifier) ?? '')) ?? [];
  return base === null ? mapped : [...mapped, inside(base, specifier)];
}

/** An exact name goes before any pattern, a longer beginning before a shorter one. */
const fixedLength = (pattern: string): number => (pattern.includes('*') ? pattern.indexOf('*') : Infinity);

/** What stands for the `*`; undefined: no match. */
function starOf(pattern: string, specifier: string): string | undefined {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === specifier ? '' : undefined;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits =
    specifier.length >= before.length + after.length &&
    specifier.startsWith(before) &&
    specifier.endsWith(after);
  return fits ? specifier.slice(before.length, specifier.length - after.length) : undefined;
}
