/** Trees as the cases write them: files by path, and the parts that fleets are made of. */
import { stringify } from 'yaml';
import type { FileMode } from '../../../hub/git/source.ts';

export interface File {
  readonly mode: FileMode;
  /** Bytes; of a symlink its target, of a submodule the id of a commit. */
  readonly content: string | Uint8Array;
}

/** Files by path; text stands for a file that is not executable. In a path, U+DC00 + byte stands for a byte that is not UTF-8. */
export type Files = Readonly<Record<string, string | Uint8Array | File>>;

/** What a commit changes: contents by path, null for what goes, or the whole tree made from the one before. */
export type Edit = Readonly<Record<string, Files[string] | null>> | ((files: Files) => Files);

/** The tree after an edit. */
export function edited(files: Files, edit: Edit): Files {
  if (typeof edit === 'function') return edit(files);
  const next: Record<string, Files[string]> = { ...files };
  for (const [path, content] of Object.entries(edit)) {
    if (content === null) delete next[path];
    else next[path] = content;
  }
  return next;
}

/** Moves a file, or everything below a folder. */
export const moved =
  (from: string, to: string): Edit =>
  (files) =>
    Object.fromEntries(
      Object.entries(files).map(([path, content]) => [
        path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path,
        content,
      ]),
    );

/** Takes a file or a folder away. */
export const gone =
  (from: string): Edit =>
  (files) =>
    Object.fromEntries(
      Object.entries(files).filter(([path]) => path !== from && !path.startsWith(`${from}/`)),
    );

/** Several edits in one commit. */
export const both =
  (...edits: readonly Edit[]): Edit =>
  (files) =>
    edits.reduce(edited, files);

export const link = (target: string): File => ({ mode: '120000', content: target });
export const submodule = (digit: string): File => ({ mode: '160000', content: digit.repeat(40) });
export const executable = (content: string): File => ({ mode: '100755', content });

/** Fields of a Stack's spec. */
export type Spec = Readonly<Record<string, unknown>>;

const document = (kind: string, metadata: object, spec?: object): string =>
  stringify({ apiVersion: 'towline.dev/v1', kind, metadata, ...(spec && { spec }) });

/** A Stack's manifest. It belongs on the only cluster, unless its spec says otherwise. */
export const manifest = (name: string, spec: Spec = {}, namespace = 'apps'): string =>
  document(
    'Stack',
    { name, namespace },
    { backend: { url: 'file:///state' }, pulumiStack: `organization/${name}/{cluster}`, ...spec },
  );

/** A manifest of another kind. */
export const other = (kind: string, name: string, spec?: Spec): string => document(kind, { name }, spec);

export const project = (name: string, runtime = 'nodejs', more: object = {}): string =>
  stringify({ name, runtime, ...more });

export interface StackOptions {
  /** Default: `stacks/NAME`. */
  readonly folder?: string;
  readonly runtime?: string;
  readonly spec?: Spec;
  /** Files from the stack's folder on. */
  readonly files?: Files;
}

/** A stack with its manifest beside its project file. */
export function stack(
  name: string,
  { folder = `stacks/${name}`, runtime, spec, files = {} }: StackOptions = {},
): Files {
  const at = folder === '.' ? '' : `${folder}/`;
  return {
    [`${at}towline.yaml`]: manifest(name, spec),
    [`${at}Pulumi.yaml`]: project(name, runtime),
    ...Object.fromEntries(Object.entries(files).map(([path, content]) => [at + path, content])),
  };
}

/** A stack of one file in Node.js. */
export const program = (name: string, text: string, more: StackOptions = {}): Files =>
  stack(name, { ...more, files: { 'index.ts': text, ...more.files } });

/** Several trees as one. */
export const together = (trees: readonly Files[]): Files =>
  Object.fromEntries(trees.flatMap((files) => Object.entries(files)));

/** A stack that has nothing to do with the change at hand. */
export const BYSTANDER: Files = program('bystander', 'export const n = 1;\n');

/** The cluster that every fleet has. */
export const CLUSTER: Files = { 'fleet/c.yaml': other('Cluster', 'c') };
