/** What programs in YAML read: the files that their functions name. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { isFields } from '../fields.ts';
import { makeFindings, readFile } from './findings.ts';
import type { Inferred } from './infer.ts';
import { isOutward, takeLiteral, type Literal } from './literals.ts';
import { yamlParser } from './parsers.ts';
import { inside } from './paths.ts';
import { programOf } from './pulumi.ts';
import type { View } from './view.ts';

/** Files in which a program may stand: of a project, of one that keeps it apart, of a plugin. */
const PROGRAM_FILES = [
  'Main.json',
  'Main.yaml',
  'Pulumi.yaml',
  'Pulumi.yml',
  'Pulumi.json',
  'PulumiPlugin.yaml',
] as const;

/** Fields of a program; the others are Pulumi's settings. */
const PROGRAM_FIELDS = [
  'config',
  'configuration',
  'variables',
  'resources',
  'outputs',
  'components',
] as const;

/** Function → whether it reads a folder. */
const FILE_FUNCTIONS: ReadonlyMap<string, boolean> = new Map([
  ['fn::readfile', false],
  ['fn::fileasset', false],
  ['fn::filearchive', true],
]);

const programParser = yamlParser('pulumi yaml', literalsOf);

/** Inputs of a program in YAML. */
export function inferYaml(project: ProjectFile, view: View): Inferred {
  const findings = makeFindings(view);
  const { folder } = programOf(project, view);
  const bases = [...new Set([folder, project.folder])];
  for (const file of bases.flatMap((at) => PROGRAM_FILES.map((name) => inside(at, name))))
    for (const literal of readFile(findings, file, programParser) ?? [])
      takeLiteral(findings, literal, { bases: [folder], homes: bases, file });
  return findings.result();
}

function literalsOf(documents: readonly unknown[], text: string): readonly Literal[] {
  const found: Literal[] = [];
  const add = (value: unknown, lists?: boolean): void => {
    const literal = typeof value === 'string' ? literalOf(value, lists) : undefined;
    if (literal !== undefined) found.push({ ...literal, line: lineOf(text, value as string) });
  };
  const parts = documents
    .filter(isFields)
    .flatMap((document) => PROGRAM_FIELDS.map((name) => document[name]));
  // what an alias stands for is met once, however often it stands for it
  const open = new Set<unknown>(parts);
  for (const value of open) {
    if (value === null || typeof value !== 'object') continue;
    for (const [key, inner] of Object.entries(value)) {
      const lists = FILE_FUNCTIONS.get(key.toLowerCase());
      if (typeof inner === 'string') add(inner, lists);
      else open.add(inner);
    }
  }
  return found;
}

/** Line of a text in a file, from 1; the first, where it stands in several. */
const lineOf = (file: string, text: string): number =>
  file.slice(0, Math.max(0, file.indexOf(text))).split('\n').length;

/** Stands for the folder of the program at the start of a path. */
const WORKING_FOLDER = /^\$\{\s*pulumi\.(?:cwd|rootDirectory|projectRoot)\s*\}\/*/;

/** A text as a path. Outside of functions for files only what leaves the folder is one. */
function literalOf(value: string, lists?: boolean): Omit<Literal, 'line'> | undefined {
  const text = value.replace(WORKING_FOLDER, './');
  if (lists === undefined && !isOutward(text)) return undefined;
  const cut = text.indexOf('${');
  return { path: cut < 0 ? text : text.slice(0, cut), open: cut >= 0, lists: lists ?? false };
}
