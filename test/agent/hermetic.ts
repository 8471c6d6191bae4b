/** A repository of which a stack declares a part: what it ships, and what an order tells of the rest. */
import type { Surroundings } from '../../shared/surroundings.ts';
import { surroundingsOf } from '../../hub/surroundings.ts';
import type { TreeFiles } from './bed.ts';

export interface Shipped {
  readonly files: TreeFiles;
  readonly surroundings: Surroundings;
}

/** `nested`: folders of other projects in this one. */
interface Choice {
  readonly project: string;
  readonly include?: readonly string[];
  readonly nested?: readonly string[];
}

/** `include`: files, or folders that end with `/`, besides the project's own folder. */
export function ship(repository: TreeFiles, { project, include = [], nested = [] }: Choice): Shipped {
  const wanted = [`${project}/`, ...include];
  const isOther = (path: string): boolean =>
    (/\/Pulumi\.(?!dev\.).+\.yaml$/.test(path) && !include.includes(path)) ||
    nested.some((folder) => path.startsWith(folder));
  const files = Object.fromEntries(
    Object.entries(repository).filter(
      ([path]) =>
        wanted.some((one) => path === one || (one.endsWith('/') && path.startsWith(one))) && !isOther(path),
    ),
  );
  const entries = Object.keys(repository)
    .sort()
    .map((path) => ({ path, mode: '100644', id: 'a'.repeat(40) }) as const);
  const around = { project, isManifest: () => false };
  return { files, surroundings: surroundingsOf(entries, Object.keys(files), around) };
}
