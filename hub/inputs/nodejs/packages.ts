/** All packages of the repository that are installed with a project, and the lockfile cut to them. */
import type { View } from '../view.ts';
import { type Closure, closureOf } from './closure.ts';
import { type Cut, type Cutting, cutOf } from './cut.ts';
import type { Install } from './install.ts';
import { comesWith } from './nearest.ts';
import { type Roots, workspacePatterns } from './globs.ts';
import { ruledPaths } from './rules.ts';
import { hasWorkspaces, membersBelow } from './workspaces.ts';

export interface Packages {
  readonly closure: Closure;
  /** Folders outside of the project. */
  readonly folders: readonly string[];
  readonly cut: Cut;
  readonly cutting: Cutting;
  readonly problems: readonly string[];
}

/** `more`: folders of workspaces that the project uses without saying so. */
export function packagesOf(
  view: View,
  {
    project,
    install,
    more,
  }: { readonly project: string; readonly install: Install; readonly more: readonly string[] },
): Packages {
  const from = [...new Set([install.importer, install.root])];
  const { closure, also } = withMembers(view, { project, roots: install, from, more });
  const cutting: Cutting = { install, also };
  const cut = withRules(view, install.root, view.fact(cutOf(cutting)));
  const named = [...cut.workspaces, ...cut.paths.filter((path) => view.hasFolder(path))];
  const whole = closureOf(view, install, [...new Set([...from, ...closure.packages, ...named])]);
  const folders = new Set([...closure.packages, ...named, ...whole.packages]);
  const outside = [...folders].filter((folder) => !comesWith(view, folder, project));
  const patterns = view.fact(workspacePatterns(install));
  const problems = [...patterns.problems, ...whole.problems, ...cut.problems];
  return { closure: whole, folders: outside, cut, cutting, problems };
}

const withRules = (view: View, root: string, cut: Cut): Cut =>
  cut.made.length > 0 ? cut : { ...cut, paths: [...cut.paths, ...view.fact(ruledPaths(root))] };

interface Seed {
  readonly project: string;
  readonly roots: Roots;
  readonly from: readonly string[];
  readonly more: readonly string[];
}

/** Folders bring the workspaces in them, and these what they depend on. */
function withMembers(view: View, { project, roots, from, more }: Seed): { closure: Closure; also: string[] } {
  const also = new Set(more);
  const looked = new Set<string>();
  for (;;) {
    const closure = closureOf(view, roots, [...new Set([...from, ...also])]);
    const packages = [...new Set([...also, ...closure.packages])];
    const open = [project, ...packages].filter((folder) => !looked.has(folder));
    if (open.length === 0 || !hasWorkspaces(view, roots))
      return { closure: { ...closure, packages }, also: [...also].sort() };
    open.forEach((folder) => looked.add(folder));
    const members = open.flatMap((folder) => view.fact(membersBelow(roots, folder)));
    members.filter((member) => !from.includes(member)).forEach((member) => also.add(member));
  }
}
