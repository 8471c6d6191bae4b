/** What Pulumi.yaml says about a Node.js program. */
import { parse } from 'yaml';
import type { ProjectFile } from '../../catalog/catalog.ts';
import { isFields } from '../../fields.ts';
import { folderOf, inside, joinPath } from '../paths.ts';
import type { Parser, View } from '../view.ts';

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

interface Settings {
  readonly main?: string;
  readonly tsconfig?: string;
}

const SETTINGS: Parser<Settings> = {
  name: 'nodejs/program',
  parse: (content) => {
    try {
      const value: unknown = parse(content.toString('utf8'));
      const fields = isFields(value) ? value : {};
      const runtime = isFields(fields['runtime']) ? fields['runtime'] : {};
      const options = isFields(runtime['options']) ? runtime['options'] : {};
      const { main } = fields;
      const { tsconfig } = options;
      return {
        ...(typeof main === 'string' && main !== '' ? { main } : {}),
        ...(typeof tsconfig === 'string' && tsconfig !== '' ? { tsconfig } : {}),
      };
    } catch {
      // the catalog refuses a project file that cannot be read
      return {};
    }
  },
};

/** Where a project's program is, and how it is compiled. */
export function programOf(project: ProjectFile, view: View): Program {
  const { folder } = project;
  const settings = view.parsed(inside(folder, project.file), SETTINGS) ?? {};
  const main = settings.main === undefined ? folder : joinPath(folder, settings.main);
  const directory = main === undefined || main === folder || view.hasFolder(main) ? main : folderOf(main);
  return {
    main,
    named: settings.main !== undefined,
    directories: [...new Set([folder, ...(directory === undefined ? [] : [directory])])],
    tsconfig: joinPath(folder, settings.tsconfig ?? 'tsconfig.json'),
  };
}
