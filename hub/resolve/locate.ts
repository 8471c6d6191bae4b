/** From a manifest's `source` to the project that it means. */
import { posix } from 'node:path';
import type { StackSpec } from '../../crds/stack.ts';
import type { Catalog, Origin, ProjectFile } from '../catalog/catalog.ts';
import { didYouMean } from '../nearest.ts';
import { printOrigin } from '../problem.ts';

export type Located =
  | { readonly kind: 'project'; readonly project: ProjectFile }
  | { readonly kind: 'fault'; readonly field: string; readonly text: string };

type Known = Pick<Catalog, 'projects' | 'refusedProjects'>;

export interface Place {
  /** The configured repository. */
  readonly repository: string;
  /** The source: the repository, at its own ref or another one. */
  readonly name: string;
  readonly manifest: Origin;
}

/** The project file of a stack. */
export function locate({ source }: Pick<StackSpec, 'source'>, place: Place, known: Known): Located {
  const { dir = '.' } = source ?? {};
  const { manifest, name: repository } = place;
  const base = place.repository === manifest.repository ? posix.dirname(manifest.path) : '.';
  const folder = folderOf(dir, base);
  if (folder === undefined) {
    return {
      kind: 'fault',
      field: 'source.dir',
      text: `spec.source.dir “${dir}” leads out of the repository`,
    };
  }
  const key = `${repository}:${folder}`;
  const project = known.projects.get(key);
  if (project !== undefined) return { kind: 'project', project };
  const refused = known.refusedProjects.get(key);
  if (refused !== undefined) {
    const text = `its project file cannot be read (${printOrigin(refused.origin)}: ${refused.text})`;
    return { kind: 'fault', field: 'source.dir', text };
  }
  return missing(place, folder, known);
}

function folderOf(dir: string, base: string): string | undefined {
  const joined = posix.normalize(dir.startsWith('/') ? `.${dir}` : posix.join(base, dir));
  if (joined === '..' || joined.startsWith('../')) return undefined;
  return joined === './' ? '.' : joined.replace(/\/$/, '');
}

function missing({ repository: named, name: repository }: Place, folder: string, known: Known): Located {
  const keys = [...known.projects.keys(), ...known.refusedProjects.keys()];
  const repositories = new Set(keys.map((key) => key.slice(0, key.indexOf(':'))));
  if (!repositories.has(repository)) {
    const own = new Set([...repositories].filter((name) => !name.includes('@')));
    const text =
      named !== repository && own.has(named)
        ? `there is no Pulumi.yaml in ${repository}: correct spec.source.ref`
        : `spec.source.repository “${named}” is not a repository with projects that the hub reads` +
          didYouMean(named, own);
    return { kind: 'fault', field: 'source.repository', text };
  }
  const folders = keys
    .filter((key) => key.startsWith(`${repository}:`))
    .map((key) => key.slice(repository.length + 1));
  const name = posix.basename(folder);
  const hint =
    didYouMean(folder, folders) ||
    didYouMean(
      folder,
      folders.filter((one) => posix.basename(one) === name),
    );
  const moved = folders.filter((one) => posix.basename(one) === name && name !== '.').sort()[0];
  const where = folder === '.' ? 'the root' : folder;
  const text =
    `${where} of repository ${repository} has no Pulumi.yaml: correct spec.source.dir, or add the project file` +
    (hint !== '' || moved === undefined ? hint : `; did you mean “${moved}”?`);
  return { kind: 'fault', field: 'source.dir', text };
}
