/** Packages of the repository that a project installs, from its package.json on, whatever leads to them. */
import type { View } from '../view.ts';
import { needsOf } from './needs.ts';
import type { Roots } from './globs.ts';

export interface Closure {
  /** Folders of packages, without those that it started from. */
  readonly packages: readonly string[];
  readonly files: readonly string[];
  /** Names of packages that some package.json of the closure declares. */
  readonly names: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/** Follows dependencies of every field. Rings of packages end where they began. */
export function closureOf(view: View, roots: Roots, from: readonly string[]): Closure {
  const start = new Set(from);
  const packages = new Set(start);
  const files = new Set<string>();
  const names = new Set<string>();
  const problems = new Set<string>();
  // A set may grow while it is walked: what is added is walked as well.
  for (const folder of packages) {
    const needs = view.fact(needsOf(roots, folder));
    needs.packages.forEach((found) => packages.add(found));
    needs.files.forEach((file) => files.add(file));
    needs.names.forEach((name) => names.add(name));
    needs.problems.forEach((problem) => problems.add(problem));
  }
  const found = [...packages].filter((folder) => !start.has(folder));
  return { packages: found, files: [...files], names, problems: [...problems] };
}
