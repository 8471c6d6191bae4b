/** A repository with many stacks, written by fast-import: a thousand libraries' worth of files in seconds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';

export interface Edit {
  readonly path: string;
  /** Undefined: the file, or all that is below the folder, goes. Of a symlink the target, of a submodule the commit. */
  readonly content: string | undefined;
  /** As Git writes it; a file that cannot be run, unless it says otherwise. */
  readonly mode?: '100755' | '120000' | '160000';
}

/** Makes a bare repository. */
export async function initRepository(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
}

/** Adds one commit to main and answers with its id. */
export async function commitTo(folder: string, subject: string, edits: Iterable<Edit>): Promise<string> {
  const head = await git(folder, ['rev-parse', '--verify', '--quiet', 'refs/heads/main']).catch(() => '');
  const parents = head === '' ? [] : [`from ${head}`];
  return writeCommit(folder, { ref: 'refs/heads/main', subject, start: parents }, edits);
}

export interface Place {
  readonly ref: string;
  readonly subject: string;
  /** Commands of fast-import: `from COMMIT`, or what fills a tree without a parent. */
  readonly start: readonly string[];
}

/** Makes one commit, lets the ref name it, and answers with its id. */
export async function writeCommit(
  folder: string,
  { ref, subject, start }: Place,
  edits: Iterable<Edit>,
): Promise<string> {
  const lines = [
    `commit ${ref}`,
    'committer Bench <bench@example.com> 1767225600 +0000',
    data(subject),
    ...start,
    ...Array.from(edits, command),
  ];
  await git(folder, ['fast-import', '--quiet', '--force'], `${lines.join('\n')}\n`);
  return git(folder, ['rev-parse', ref]);
}

function command({ path, content, mode }: Edit): string {
  // what JSON escapes in these names, fast-import reads the same way
  const quoted = JSON.stringify(path);
  if (content === undefined) return `D ${quoted}`;
  return mode === '160000'
    ? `M ${mode} ${content} ${quoted}`
    : `M ${mode ?? '100644'} inline ${quoted}\n${data(content)}`;
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;

async function git(folder: string, args: readonly string[], input?: string): Promise<string> {
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const child = spawn('git', ['-C', folder, ...args], { stdio: [stdin, 'pipe', 'inherit'] });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => void (output += text));
  child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`git ${args[0] ?? ''} ended with ${code}`);
  return output.trim();
}

export interface Shape {
  readonly stacks: number;
  readonly clusters: number;
  /** Stacks that use the one shared library; every stack uses one of its own group besides. */
  readonly sharing: number;
}

/** The files of a fleet: each stack a Node.js program that imports a library by a relative path. */
export function* filesOf({ stacks, clusters, sharing }: Shape): Generator<Edit> {
  for (let n = 0; n < clusters; n++)
    yield {
      path: `fleet/c${n}.yaml`,
      content: `apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: c${n}, labels: {tier: prod}}\n`,
    };
  yield { path: 'package.json', content: '{"name": "fleet", "private": true}\n' };
  for (let n = 0; n < 100; n++)
    yield { path: `libs/l${n}/index.ts`, content: `export const name = 'l${n}';\n` };
  yield { path: 'libs/shared/index.ts', content: 'export const version = 1;\n' };
  for (let n = 0; n < stacks; n++) yield* stackFiles(n, n < sharing);
}

/** Folder of a stack. */
export const folderOfStack = (n: number): string => `stacks/s${String(n).padStart(5, '0')}`;

function* stackFiles(n: number, shares: boolean): Generator<Edit> {
  const folder = folderOfStack(n);
  const name = `s${String(n).padStart(5, '0')}`;
  yield {
    path: `${folder}/stack.yaml`,
    content: `apiVersion: towline.dev/v1
kind: Stack
metadata: {name: ${name}, namespace: apps}
spec:
  pulumiStack: organization/${name}/{cluster}
  backend: {url: "file:///state"}
  clusters: {selector: {matchLabels: {tier: prod}}}
  config: {"${name}:replicas": "3"}
`,
  };
  yield { path: `${folder}/Pulumi.yaml`, content: `name: ${name}\nruntime: nodejs\n` };
  yield {
    path: `${folder}/index.ts`,
    content: `import { name } from '../../libs/l${n % 100}/index.ts';\n${shares ? "import { version } from '../../libs/shared/index.ts';\n" : ''}export const n = ${n};\n`,
  };
  yield { path: `${folder}/src/a.ts`, content: `export const a = ${n};\n` };
  yield { path: `${folder}/src/b.ts`, content: `export const b = ${n};\n` };
}
