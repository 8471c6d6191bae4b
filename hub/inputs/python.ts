/** What programs in Python read: the packages that they install, the modules that they import, the paths they name. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { makeFindings } from './findings.ts';
import type { Inferred } from './infer.ts';
import { inside, isBelow } from './paths.ts';
import { programOf } from './pulumi.ts';
import { pythonFiles, takeSources } from './python/modules.ts';
import { takePackages } from './python/packages.ts';
import type { View } from './view.ts';

/** Inputs of a program in Python. */
export function inferPython(project: ProjectFile, view: View): Inferred {
  const findings = makeFindings(view);
  const program = programOf(project, view);
  const { projects, roots } = takePackages(findings, program.folder);
  const atRoot = program.folder === '.';
  const folders = [...(atRoot ? [] : [program.folder]), ...projects];
  const files = folders.flatMap((folder) => pythonFiles(view, folder));
  // the folder of a program at the root is the repository: only what the program leads to is its own
  const main = program.file ?? inside(program.folder, '__main__.py');
  takeSources(findings, {
    home: program.folder,
    files: atRoot ? [main, ...files] : files,
    roots: [...roots, ...(atRoot ? ['.'] : [])].filter(
      (root) => root === '.' || !isBelow(root, program.folder),
    ),
  });
  return findings.result();
}
