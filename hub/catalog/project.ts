/** A Pulumi project file → the little that the hub needs of it. Pulumi itself reads the rest. */
import { posix } from 'node:path';
import type { CatalogFile, Problem, ProjectFile } from './catalog.ts';
import { decodeText, readDocuments } from './documents.ts';
import type { Document } from './documents.ts';
import { printValue } from './issues.ts';
import { isFields } from '../fields.ts';
import { problemAt } from '../problem.ts';

export type ReadProject =
  | { readonly kind: 'project'; readonly project: ProjectFile }
  | { readonly kind: 'refused'; readonly problem: Problem };

/** Reads Pulumi.yaml, Pulumi.yml or Pulumi.json. */
export function readProject(file: CatalogFile): ReadProject {
  const refuse = (line: number, text: string): ReadProject => ({
    kind: 'refused',
    problem: problemAt(file, { line, code: 'Invalid', text }),
  });
  const decoded = decodeText(file.content);
  if (decoded.kind === 'fault') return refuse(1, decoded.text);
  const { documents, broken } = readDocuments(decoded.text);
  const [first] = broken;
  if (first !== undefined) return refuse(first.line, first.text);
  const [document, second] = documents;
  if (document === undefined) return refuse(1, 'the project file is empty: it needs a name and a runtime');
  if (second !== undefined) return refuse(second.line, 'a project file is one document: take out the second');
  return projectOf(file, document, refuse);
}

type Refuse = (line: number, text: string) => ReadProject;

function projectOf(file: CatalogFile, document: Document, refuse: Refuse): ReadProject {
  const fields = document.value;
  if (!isFields(fields))
    return refuse(document.line, 'the project file must be a map with a name and a runtime');
  const { name, config } = fields;
  const runtime = fieldOf(fields['runtime'], 'name') ?? fields['runtime'];
  if (typeof name !== 'string' || !/^[A-Za-z0-9_.-]{1,100}$/.test(name)) {
    return refuse(
      document.lineAt(['name']),
      `name is ${printValue(name)}: a project needs a name of letters, digits, “-_.”`,
    );
  }
  if (typeof runtime !== 'string' || runtime === '') {
    return refuse(
      document.lineAt(['runtime']),
      `runtime is ${printValue(fields['runtime'])}: name one, such as nodejs`,
    );
  }
  const backendUrl = fieldOf(fields['backend'], 'url');
  // Older project files name the folder of the stack files in `config`.
  const stackConfigDir = fields['stackConfigDir'] ?? config;
  const project: ProjectFile = {
    repository: file.repository,
    folder: posix.dirname(file.path),
    file: posix.basename(file.path),
    name,
    runtime,
    ...(typeof backendUrl === 'string' && backendUrl !== '' ? { backendUrl } : {}),
    ...(typeof stackConfigDir === 'string' && stackConfigDir !== '' ? { stackConfigDir } : {}),
  };
  return { kind: 'project', project };
}

const fieldOf = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined);

export interface Projects {
  readonly projects: ReadonlyMap<string, ProjectFile>;
  readonly refused: ReadonlyMap<string, Problem>;
}

/** All project files by `repository:folder`; two of them in one folder are refused both, since Pulumi takes either. */
export function gatherProjects(
  read: readonly { readonly file: CatalogFile; readonly result: ReadProject }[],
): Projects {
  const projects = new Map<string, ProjectFile>();
  const refused = new Map<string, Problem>();
  for (const { file, result } of read) {
    const key = `${file.repository}:${posix.dirname(file.path)}`;
    if (projects.has(key) || refused.has(key)) {
      const text = 'the folder has more than one project file: keep one of them';
      projects.delete(key);
      refused.set(key, problemAt(file, { line: 1, code: 'Invalid', text }));
    } else if (result.kind === 'project') projects.set(key, result.project);
    else refused.set(key, result.problem);
  }
  return { projects, refused };
}
