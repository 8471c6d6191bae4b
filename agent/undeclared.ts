/** What lies around an artifact, as the agent acts on it: what is made unreadable, and how a refusal is told. Pure. */
import { posix } from 'node:path';
import { includeOf, isPartial, remedyOf, undeclaredAt, type Surroundings } from '../shared/surroundings.ts';

export interface Poison {
  /** From the root of the run's files. */
  readonly entries: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** Folders whose names nobody may ask for. */
  readonly unlisted: readonly string[];
}

/** What to make unreadable before Pulumi starts. */
export function poisonPlan(
  surroundings: Surroundings,
  { project, runtime }: { readonly project: string; readonly runtime: string },
): Poison {
  const folders = Object.entries(surroundings);
  return {
    entries: folders.flatMap(([folder, { undeclared = [] }]) =>
      undeclared.map((name) => ({
        path: posix.join(folder, name.replace(/\/$/, '')),
        isFolder: name.endsWith('/'),
      })),
    ),
    unlisted: folders
      .map(([folder]) => folder)
      .filter((folder) => isPartial(surroundings, folder) && !mustBeListed(folder, { project, runtime })),
  };
}

/**
 * Language hosts look for plugins in the project's own folder, and Python lists every folder that it imports from, of
 * which nobody knows all. There the guard alone keeps programs from it; foreign tools see the unreadable entries.
 */
const mustBeListed = (
  folder: string,
  { project, runtime }: { readonly project: string; readonly runtime: string },
): boolean => runtime === 'python' || folder === posix.normalize(project);

/** Where a run's files are, for what is said about them. */
export interface Scene {
  readonly surroundings: Surroundings;
  /** Folder of the run's files. */
  readonly work: string;
  /** Folder of the program, from there. */
  readonly project: string;
}

/** The guard's own words, which name the remedy already. */
const GUARDED = /EACCES: permission denied, [^\n]* (?:to source\.include|never an input)[^\n]*/;
/** Words of programs and tools about a file that they could not read or find. */
const REFUSED = /EACCES|permission denied|cannot find module/i;
/** What may be a path in such a line: what stands in quotes, else what has a slash in it. */
const PATHS = /'([^'\n]+)'|"([^"\n]+)"|`([^`\n]+)`|((?:\.{0,2}\/|[\w.@-]+\/)[^\s'"`:,;()]*)/g;

/** What a run met that it did not declare, in words; undefined when nothing of what was printed says so. */
export function undeclaredIn(texts: readonly string[], scene: Scene | undefined): string | undefined {
  if (scene === undefined) return undefined;
  for (const text of texts) {
    const own = GUARDED.exec(text)?.[0];
    if (own !== undefined) return own.trim();
  }
  for (const line of texts.flatMap((text) => text.split('\n')).filter((one) => REFUSED.test(one)))
    for (const [, ...groups] of line.matchAll(PATHS)) {
      const found = explain(groups.find((group) => group !== undefined) ?? '', scene);
      if (found !== undefined) return found;
    }
  return undefined;
}

function explain(text: string, { surroundings, work, project }: Scene): string | undefined {
  const path = posix.relative(work, posix.resolve(posix.join(work, project), text)) || '.';
  if (path.startsWith('../') || path === '..') return undefined;
  // a name that may be nowhere is what the tool says it is
  const found = undeclaredAt(surroundings, () => true, path);
  if (found !== undefined) return remedyOf(found);
  if (!isPartial(surroundings, path)) return undefined;
  return `the repository has more in ${path === '.' ? 'its root' : path} than this stack declares: add "${includeOf(`${path}/`)}" to source.include`;
}
