/** Files of Git that say in which form others are stored, or where they come from. Pure. */
import { folderOf, inside, upwards } from './paths.ts';
import type { Look } from './reading.ts';

/**
 * Attribute files in the folders of files and above them, and where a submodule is among the files, the one that says
 * where submodules come from. Each change of one counts: what it means for a file is not worked out.
 */
export function gitFiles(look: Look, files: Iterable<number>): number[] {
  const paths = new Set<string>();
  for (const position of files) {
    const { path, mode } = look.index.entries[position] ?? { path: '.', mode: '120000' };
    if (mode === '160000') paths.add('.gitmodules');
    if (mode !== '100644' && mode !== '100755') continue;
    for (const folder of upwards(folderOf(path))) {
      const attributes = inside(folder, '.gitattributes');
      if (paths.has(attributes)) break;
      paths.add(attributes);
    }
  }
  return [...paths].flatMap((path) => {
    // a link is none to Git
    const mode = look.entry(path)?.mode;
    const position = look.index.positions.get(path);
    return position !== undefined && (mode === '100644' || mode === '100755') ? [position] : [];
  });
}
