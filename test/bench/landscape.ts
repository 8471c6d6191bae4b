/** The repository that is measured on: 20 stacks on two clusters. */
import { readFile } from 'node:fs/promises';
import { cluster, defaults, program, stack, stackFiles } from '../flow/programs.ts';
import type { Changes } from '../harness/git.ts';

export const CLUSTERS = ['one', 'two'] as const;
export const STACKS = 20;
/** The variable of the agents from which orders take the passphrase. */
export const PASSPHRASE = { name: 'PASSPHRASE', value: 'nobody knows' };

/** A stack whose runs are timed. */
export interface Timed {
  readonly name: string;
  readonly cluster: (typeof CLUSTERS)[number];
  /** Folder of its project. */
  readonly folder: string;
  /** The files of its n-th version but for its manifest; `place` keeps the effects of two users of it apart. */
  files(place: string, version: number): Changes;
}

/** Its only resource is an output: next to nothing but Pulumi itself. */
export const yaml: Timed = {
  name: 'yaml',
  cluster: 'one',
  folder: 'stacks/yaml',
  files: (_place, version) => ({ 'Pulumi.yaml': program('yaml', `version ${version}`) }),
};

/** A dynamic resource that writes a file, changed by every version. */
export const typescript: Timed = {
  name: 'typescript',
  cluster: 'one',
  folder: 'stacks/typescript',
  files: (place, version) => ({
    'Pulumi.yaml': 'name: typescript\nruntime: nodejs\n',
    'index.ts': noteProgram(place, `version ${version}`),
  }),
};

const noteProgram = (file: string, text: string): string => `import * as pulumi from '@pulumi/pulumi';
import { rm, writeFile } from 'fs/promises';

interface Note {
  file: string;
  text: string;
}

const provider: pulumi.dynamic.ResourceProvider<Note, Note> = {
  async create(note) {
    await writeFile(note.file, note.text);
    return { id: note.file, outs: note };
  },
  async update(_id, _olds, note) {
    await writeFile(note.file, note.text);
    return { outs: note };
  },
  async delete(file) {
    await rm(file, { force: true });
  },
};

class NoteFile extends pulumi.dynamic.Resource {
  constructor(name: string, note: Note) {
    super(provider, name, note);
  }
}

new NoteFile('note', { file: ${JSON.stringify(file)}, text: ${JSON.stringify(text)} });
export const version = ${JSON.stringify(text)};
`;

/** Package and lockfile of a TypeScript project: those of the demo, which pin one version of Pulumi's library. */
export async function packageFiles(): Promise<Changes> {
  const from = new URL('../../deploy/local/demo/port/apps/', import.meta.url);
  const names = ['package.json', 'package-lock.json'];
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await readFile(new URL(name, from), 'utf8')] as const),
    ),
  );
}

/** The files of a folder with their paths from the root. */
export const inFolder = (folder: string, files: Changes): Changes =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));

/** The other stacks; every second one is on the other cluster. */
const others = Array.from({ length: STACKS - 2 }, (_, n) => ({
  name: `other-${n}`,
  clusters: `{names: [${CLUSTERS[n % CLUSTERS.length] ?? ''}]}`,
}));

/** One of the stacks that are not timed, in a version of its own. */
export const touchOne = (version: number): Changes => {
  const [first] = others;
  return first === undefined ? {} : stackFiles(first, `touched ${version}`);
};

/** Everything, for the first commit. `place`: the file that the TypeScript stack writes. */
export async function landscape(state: string, place: string): Promise<Changes> {
  const timed = [yaml, typescript].map((one) => ({
    ...inFolder(one.folder, one.files(place, 0)),
    [`${one.folder}/stack.yaml`]: stack({ name: one.name, clusters: `{names: [${one.cluster}]}` }),
  }));
  return Object.assign(
    {
      'fleet.yaml': [...CLUSTERS.map((name) => cluster(name)), defaults(state)].join('---\n'),
      ...inFolder(typescript.folder, await packageFiles()),
    },
    ...timed,
    ...others.map((one) => stackFiles(one, 'untouched')),
  ) as Changes;
}
