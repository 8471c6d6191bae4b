/** Packages that sources import and no package.json declares: they are there only while something else brings them. */
import type { View } from '../view.ts';
import type { Roots } from './globs.ts';
import { hasWorkspaces, workspaceFolders } from './workspaces.ts';

export interface Phantoms {
  /** Folders of those that are workspaces of the repository. */
  readonly folders: readonly string[];
  readonly warnings: readonly string[];
}

/** `packages`: names, and the file that imports each; `declared`: names in some package.json of the closure. */
export function phantomsIn(
  view: View,
  {
    roots,
    packages,
    declared,
  }: {
    readonly roots: Roots;
    readonly packages: ReadonlyMap<string, string>;
    readonly declared: ReadonlySet<string>;
  },
): Phantoms {
  const phantoms = [...packages].filter(([name]) => !declared.has(name) && !declared.has(typesOf(name)));
  return {
    folders: hasWorkspaces(view, roots)
      ? phantoms.flatMap(([name]) => view.fact(workspaceFolders(roots, name)))
      : [],
    warnings: phantoms.map(
      ([name, file]) =>
        `${file} imports ${name}, which no package.json of the project or of its packages declares: it is there only while another dependency brings it; add it to the dependencies`,
    ),
  };
}

/** `@acme/lib` has its types in `@types/acme__lib`. */
const typesOf = (name: string): string => `@types/${name.replace(/^@/, '').replace('/', '__')}`;
