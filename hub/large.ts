/** Content of the files of a placement, and what Git LFS has to do with it. */
import type { Reason } from '../shared/outcome.ts';
import type { LargeFile, LargeFiles, Tree, TreeEntry } from './git/source.ts';
import { parsePointer } from './inputs/pointer.ts';
import type { Wanted } from './placement.ts';

/** The contents of an artifact. */
export interface Contents extends Pick<Tree, 'blob'> {
  /** Bytes of a content that has to be brought from elsewhere; undefined: it is at hand. */
  sizeOf(id: string): number | undefined;
}

/** Reads a tree, and for what Git LFS keeps, the content in place of the pointer. */
export function withLarge(
  tree: Pick<Tree, 'blob' | 'large'>,
  large: ReadonlyMap<string, LargeFile>,
): Contents {
  let begun: ReturnType<LargeFiles['begin']> | undefined;
  return {
    blob(id) {
      const file = large.get(id);
      if (file === undefined) return tree.blob(id);
      begun ??= filesOf(tree).begin([...large.values()]);
      return begun(file);
    },
    sizeOf: (id) => large.get(id)?.size,
  };
}

/** Which of the files cannot be had, and why. */
export function largeProblem(
  tree: Pick<Tree, 'large'>,
  large: ReadonlyMap<string, LargeFile>,
): Reason | undefined {
  for (const { path } of large.values()) {
    const why = filesOf(tree).refuses(path);
    if (why !== undefined)
      return {
        code: 'Invalid',
        text: `${path} is a Git LFS pointer; its content is not in the repository: ${why}`,
      };
  }
  return undefined;
}

/** Every file of a tree, the inputs that Git LFS keeps with their content. */
export function withInputs(entries: readonly TreeEntry[], { files, large }: Wanted): readonly TreeEntry[] {
  const kept = new Map(files.filter(({ id }) => large.has(id)).map((file) => [file.path, file]));
  return kept.size === 0 ? entries : entries.map((entry) => kept.get(entry.path) ?? entry);
}

/** The sizes that pointers name, together; bytes. */
export const sizeOfLarge = (files: readonly TreeEntry[], { sizeOf }: Pick<Contents, 'sizeOf'>): number =>
  files.reduce((sum, { id }) => sum + (sizeOf(id) ?? 0), 0);

/** Paths of files with this content that nothing marks as kept by Git LFS, though it is a pointer. */
export const unmarkedPointers = (files: readonly TreeEntry[], id: string, content: Buffer): string[] =>
  parsePointer(content)?.kind === 'pointer'
    ? files.filter((file) => file.id === id && file.mode !== '120000').map(({ path }) => path)
    : [];

const filesOf = ({ large }: Pick<Tree, 'large'>): LargeFiles => large ?? NOBODY;

const NOBODY: LargeFiles = {
  refuses: () => 'nothing here asks Git LFS for it; take the file out of LFS',
  begin:
    () =>
    ({ path }) =>
      Promise.reject(new Error(`${path}: nothing here asks Git LFS for it`)),
};
