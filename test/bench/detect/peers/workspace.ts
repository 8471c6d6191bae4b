/** A workspace of npm: programs of Pulumi, each one package and one stack, and the libraries that they share. Pure. */
import { createHash } from 'node:crypto';
import type { Edit } from '../estate.ts';

export interface Member {
  readonly kind: 'stack' | 'library';
  /** The package's; also the stack's. */
  readonly name: string;
  readonly folder: string;
  /** Names of libraries of this workspace. */
  readonly uses: readonly string[];
  /** Names of packages from elsewhere. */
  readonly installs: readonly string[];
}

/** A package from elsewhere. */
export interface Foreign {
  readonly name: string;
  readonly version: string;
  readonly needs: readonly string[];
}

export interface Workspace {
  readonly members: readonly Member[];
  readonly foreign: readonly Foreign[];
}

const LIBRARIES = 100;
const STACKS = 400;
const FOREIGN = 300;
/** Every program installs it. */
export const EVERYWHERE = 'runtime';

const digits = (n: number): string => String(n).padStart(3, '0');
const scoped = (name: string): string => `@fleet/${name}`;
const library = (n: number): string => `l${digits(n)}`;
const foreign = (n: number): string => `p${digits(n)}`;

/** Names of which one begins with the other, for what compares paths as texts. */
const STACK_NAMES = ['app', 'app-two', 'app2'];
const LIBRARY_NAMES = ['net', 'net-core'];

/** 100 libraries in three layers, two of which use each other, and 400 stacks that use one to three of them. */
export function makeWorkspace(): Workspace {
  const own = (name: string): Foreign[] => [
    { name: `only-${name}`, version: '1.0.0', needs: [`only-${name}-deep`] },
    { name: `only-${name}-deep`, version: '1.0.0', needs: [] },
  ];
  return {
    members: [...Array.from({ length: LIBRARIES }, (_, n) => libraryOf(n)), ...stacks()],
    foreign: [
      { name: EVERYWHERE, version: '1.0.0', needs: ['p299'] },
      ...Array.from({ length: FOREIGN }, (_, n) => ({
        name: foreign(n),
        version: '1.0.0',
        needs: [2 * n + 1, 2 * n + 2].filter((m) => m > n && m < FOREIGN).map(foreign),
      })),
      ...[50, 51].flatMap((n) => own(`s${digits(n)}`)),
    ],
  };
}

const libraryName = (n: number): string => LIBRARY_NAMES[n] ?? library(n);

function libraryOf(n: number): Member {
  const uses = n < 20 ? [] : n < 60 ? [n % 20] : n < 98 ? [20 + (n % 40)] : [n === 98 ? 99 : 98];
  return {
    kind: 'library',
    name: scoped(libraryName(n)),
    folder: `libs/${libraryName(n)}`,
    uses: uses.map((used) => scoped(libraryName(used))),
    installs: [foreign(3 * n), foreign(3 * n + 1)],
  };
}

const stacks = (): Member[] =>
  Array.from({ length: STACKS }, (_, n) => {
    const name = STACK_NAMES[n] ?? `s${digits(n)}`;
    // the first ones use either of the two libraries whose names begin alike, and nothing else
    const uses = n < 4 ? [n % 2] : [2 + ((n * 7) % 98), 2 + ((n * 13) % 98), 2 + ((n * 29) % 98)];
    const distinct = [...new Set(uses.slice(0, 1 + (n % 3)))];
    return {
      kind: 'stack',
      name,
      folder: `stacks/${name}`,
      uses: distinct.map((used) => scoped(libraryName(used))),
      installs: [EVERYWHERE, ...(n === 50 || n === 51 ? [`only-${name}`] : [])],
    };
  });

/** The stacks that use any of these libraries, directly or through others. */
export function stacksUsing({ members }: Workspace, ...names: readonly string[]): readonly string[] {
  const reached = new Set(names);
  for (let before = -1; before < reached.size;) {
    before = reached.size;
    for (const { name, uses } of members) if (uses.some((used) => reached.has(used))) reached.add(name);
  }
  return namesOfStacks(members.filter(({ name }) => reached.has(name)));
}

/** The names of those that are stacks. */
export const namesOfStacks = (members: readonly Member[]): readonly string[] =>
  members.filter(({ kind }) => kind === 'stack').map(({ name }) => name);

/** What npm writes for the workspace. */
export function lockfileOf({ members, foreign: others }: Workspace): Edit {
  const entries = [
    ...members.map(({ folder, ...member }) => [
      folder,
      { version: '1.0.0', name: member.name, ...dependenciesOf(member) },
    ]),
    ...members.map(({ name, folder }) => [`node_modules/${name}`, { resolved: folder, link: true }]),
    ...others.map(({ name, version, needs }) => [
      `node_modules/${name}`,
      {
        version,
        resolved: `https://registry.example/${name}/-/${name}-${version}.tgz`,
        integrity: `sha512-${createHash('sha512').update(`${name}@${version}`).digest('base64')}`,
        ...(needs.length === 0 ? {} : { dependencies: ranges(needs, '^1.0.0') }),
      },
    ]),
  ] as [string, object][];
  const packages = Object.fromEntries([['', ROOT], ...entries.sort(([a], [b]) => (a < b ? -1 : 1))]);
  return json('package-lock.json', { name: ROOT.name, lockfileVersion: 3, requires: true, packages });
}

/** What is in the work tree besides. */
export const IGNORED = 'node_modules\n.nx/\n.turbo/\n';

const ROOT = { name: 'fleet', version: '1.0.0', workspaces: ['libs/*', 'stacks/*'] };

const ranges = (names: readonly string[], range: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, range]));

const dependenciesOf = ({ uses, installs }: Pick<Member, 'uses' | 'installs'>) => ({
  dependencies: { ...ranges(uses, '1.0.0'), ...ranges(installs, '^1.0.0') },
});

const json = (path: string, value: unknown): Edit => ({
  path,
  content: `${JSON.stringify(value, null, 2)}\n`,
});

/** All files of the workspace, those that configure the tools among them. */
export function* filesOf(workspace: Workspace): Generator<Edit> {
  yield json('package.json', { ...ROOT, private: true, packageManager: 'npm@11.0.0' });
  yield lockfileOf(workspace);
  yield json('tsconfig.base.json', { compilerOptions: { strict: true } });
  yield { path: '.gitignore', content: IGNORED };
  yield { path: '.nvmrc', content: '24\n' };
  yield { path: '.npmrc', content: 'fund=false\n' };
  yield { path: 'README.md', content: '# Fleet\n' };
  yield {
    path: 'fleet/prod.yaml',
    content: 'apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: prod, labels: {tier: prod}}\n',
  };
  for (const member of workspace.members) yield* memberFiles(member);
}

/** The files of one package. */
export function* memberFiles(member: Member): Generator<Edit> {
  const { kind, name, folder, uses } = member;
  const imports = uses.map((used, n) => `import { name as n${n} } from '${used}';\n`).join('');
  yield manifestOf(member);
  yield json(`${folder}/tsconfig.json`, { extends: '../../tsconfig.base.json' });
  yield { path: `${folder}/src/a.ts`, content: `export const a = '${name}';\n` };
  yield { path: `${folder}/src/b.ts`, content: `export const b = '${name}';\n` };
  yield {
    path: `${folder}/index.ts`,
    content: `${imports}import { a } from './src/a.ts';\nexport const name = '${name}' + a;\n`,
  };
  if (kind === 'stack') yield* stackFiles(member);
}

/** The package's manifest. */
export const manifestOf = ({ kind, name, folder, ...member }: Member): Edit =>
  json(`${folder}/package.json`, {
    name,
    version: '1.0.0',
    main: 'index.ts',
    ...(kind === 'stack' ? { scripts: { deploy: 'pulumi up' } } : {}),
    ...dependenciesOf(member),
  });

function* stackFiles({ name, folder }: Member): Generator<Edit> {
  yield { path: `${folder}/Pulumi.yaml`, content: `name: ${name}\nruntime: nodejs\n` };
  yield {
    path: `${folder}/stack.yaml`,
    content: `apiVersion: towline.dev/v1
kind: Stack
metadata: {name: ${name}, namespace: fleet}
spec:
  pulumiStack: organization/${name}/{cluster}
  backend: {url: "file:///state"}
  clusters: {selector: {matchLabels: {tier: prod}}}
`,
  };
}
