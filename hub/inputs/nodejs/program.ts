/** What Pulumi.yaml says about a Node.js program. */
import type { ProjectFile } from '../../catalog/catalog.ts';
import { folderOf, joinPath } from '../paths.ts';
import { programSettings } from '../pulumi.ts';
import type { View } from '../view.ts';

export interface Program {
  /** Where the program lies: a file or a folder that may not be there; undefined when it is outside of the repository. */
  readonly main: string | undefined;
  /** Whether Pulumi.yaml names it. */
  readonly named: boolean;
  /** Folders that may be the working directory: Pulumi's is that of the program. */
  readonly directories: readonly string[];
  /** Path of its tsconfig. */
  readonly tsconfig: string | undefined;
}

/** Where a project's program is, and how it is compiled. */
export function programOf(project: ProjectFile, view: View): Program {
  const { folder } = project;
  const settings = programSettings(project, view);
  const main = settings.main === undefined ? folder : joinPath(folder, settings.main);
  const directory = main === undefined || main === folder || view.hasFolder(main) ? main : folderOf(main);
  return {
    main,
    named: settings.main !== undefined,
    directories: [...new Set([folder, ...(directory === undefined ? [] : [directory])])],
    tsconfig: joinPath(folder, settings.tsconfig ?? 'tsconfig.json'),
  };
}
