/** One small estate of packages, in the words of each package manager. */
import { stringify } from 'yaml';
import { berryLock, folderOf, uvLockText, yarn1Lock, type Repository } from '../lockfiles/estates.ts';
import { manifest, project, type Files } from './files.ts';

/**
 * `w1` and `w2` are stacks, `w3` is a library that `w1` uses. `w1` uses the package `p0`, and with it `p2`; `w2` uses
 * `p1`, the library `p4`, and both stacks `p3`.
 */
export const ESTATE: Repository = {
  packages: [0, 0, 0, 0, 0],
  edges: [[2], [], [], [], []],
  workspaces: [
    { packages: [], workspaces: [] },
    { packages: [asked(0), asked(3)], workspaces: [3] },
    { packages: [asked(1), asked(3)], workspaces: [] },
    { packages: [asked(4)], workspaces: [] },
  ],
};

function asked(to: number): { to: number; range: string } {
  return { to, range: '^1.0.0' };
}

/** The estate with a newer version of one package. */
export const bumped = (repository: Repository, one: number): Repository => ({
  ...repository,
  packages: repository.packages.map((patch, n) => (n === one ? patch + 1 : patch)),
});

/** The estate in which a workspace asks for other packages. */
export const asking = (
  repository: Repository,
  workspace: number,
  packages: readonly number[],
): Repository => ({
  ...repository,
  workspaces: repository.workspaces.map((one, n) =>
    n === workspace ? { ...one, packages: packages.map(asked) } : one,
  ),
});

export interface Manager {
  readonly lockfile: string;
  readonly runtime: string;
  /** Everything that the manager reads. */
  files(repository: Repository): Files;
}

const versionOf = ({ packages }: Repository, one: number): string => `1.0.${packages[one] ?? 0}`;
const integrity = (name: string, version: string): string =>
  `sha512-${Buffer.from(name + version)
    .toString('base64')
    .padEnd(86, 'A')}==`;

function dependenciesOf({ workspaces }: Repository, one: number, local: string): Record<string, string> {
  const { packages = [], workspaces: linked = [] } = workspaces[one] ?? {};
  return Object.fromEntries([
    ...packages.map(({ to, range }) => [`p${to}`, range]),
    ...linked.map((to) => [`w${to}`, local]),
  ]) as Record<string, string>;
}

/** Numbers of the packages that some workspace installs. */
function installed({ workspaces, edges }: Repository): number[] {
  const found = new Set(workspaces.flatMap(({ packages }) => packages.map(({ to }) => to)));
  for (const one of found) edges[one]?.forEach((to) => found.add(to));
  return [...found].sort((a, b) => a - b);
}

const inFolder = (one: number, name: string): string => (one === 0 ? name : `${folderOf(one)}/${name}`);

function manifests(repository: Repository, local: string): Files {
  return Object.fromEntries(
    repository.workspaces.map((_, one) => [
      inFolder(one, 'package.json'),
      JSON.stringify({
        name: `w${one}`,
        version: '1.0.0',
        ...(one === 0 ? { private: true, workspaces: ['folder/*'] } : {}),
        dependencies: dependenciesOf(repository, one, local),
      }),
    ]),
  );
}

function npmLock(repository: Repository): string {
  const { workspaces, edges } = repository;
  const fields = (one: number): object => ({
    name: `w${one}`,
    version: '1.0.0',
    dependencies: dependenciesOf(repository, one, '^1.0.0'),
  });
  const entries: [string, object][] = [
    ['', { ...fields(0), workspaces: ['folder/*'] }],
    ...workspaces.flatMap((_, one): [string, object][] =>
      one === 0
        ? []
        : [
            [folderOf(one), fields(one)],
            [`node_modules/w${one}`, { resolved: folderOf(one), link: true }],
          ],
    ),
    ...installed(repository).map((one): [string, object] => {
      const version = versionOf(repository, one);
      const dependencies = Object.fromEntries((edges[one] ?? []).map((to) => [`p${to}`, '^1.0.0']));
      const resolved = `https://registry.example/p${one}/-/p${one}-${version}.tgz`;
      return [
        `node_modules/p${one}`,
        { version, resolved, integrity: integrity(`p${one}`, version), dependencies },
      ];
    }),
  ];
  const packages = Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(
    { name: 'w0', version: '1.0.0', lockfileVersion: 3, requires: true, packages },
    null,
    2,
  );
}

function pnpmLock(repository: Repository): string {
  const { workspaces, edges } = repository;
  const importers = Object.fromEntries(
    workspaces.map(({ packages, workspaces: linked }, one) => [
      folderOf(one),
      {
        dependencies: Object.fromEntries([
          ...packages.map(({ to, range }) => [
            `p${to}`,
            { specifier: range, version: versionOf(repository, to) },
          ]),
          ...linked.map((to) => [`w${to}`, { specifier: 'workspace:^1.0.0', version: `link:../w${to}` }]),
        ]) as object,
      },
    ]),
  );
  const keyOf = (one: number): string => `p${one}@${versionOf(repository, one)}`;
  const packages = Object.fromEntries(
    installed(repository).map((one) => [
      keyOf(one),
      { resolution: { integrity: integrity(`p${one}`, versionOf(repository, one)) } },
    ]),
  );
  const snapshots = Object.fromEntries(
    installed(repository).map((one) => [
      keyOf(one),
      {
        dependencies: Object.fromEntries(
          (edges[one] ?? []).map((to) => [`p${to}`, versionOf(repository, to)]),
        ),
      },
    ]),
  );
  const settings = { autoInstallPeers: true, excludeLinksFromLockfile: false };
  return stringify({ lockfileVersion: '9.0', settings, importers, packages, snapshots });
}

function pyprojects(repository: Repository): Files {
  return Object.fromEntries(
    repository.workspaces.map((_, one) => {
      const asks = dependenciesOf(repository, one, '>=1');
      const names = Object.keys(asks).map((name) => `"${name}"`);
      const linked = Object.keys(asks).filter((name) => name.startsWith('w'));
      const sources = linked.map((name) => `${name} = { workspace = true }\n`).join('');
      const text =
        `[project]\nname = "w${one}"\nversion = "1.0.0"\nrequires-python = ">=3.9"\ndependencies = [${names.join(', ')}]\n` +
        (one === 0 ? '\n[tool.uv.workspace]\nmembers = ["folder/*"]\n' : '') +
        (sources === '' ? '' : `\n[tool.uv.sources]\n${sources}`);
      return [inFolder(one, 'pyproject.toml'), text];
    }),
  );
}

const node = (lockfile: string, local: string, more: (repository: Repository) => Files): Manager => ({
  lockfile,
  runtime: 'nodejs',
  files: (repository) => ({ ...manifests(repository, local), ...more(repository) }),
});

/** By the name of the manager. */
export const MANAGERS: Readonly<Record<string, Manager>> = {
  npm: node('package-lock.json', '^1.0.0', (repository) => ({ 'package-lock.json': npmLock(repository) })),
  pnpm: node('pnpm-lock.yaml', 'workspace:^1.0.0', (repository) => ({
    'pnpm-lock.yaml': pnpmLock(repository),
    'pnpm-workspace.yaml': 'packages:\n  - folder/*\n',
  })),
  'yarn 1': node('yarn.lock', '^1.0.0', (repository) => ({ 'yarn.lock': yarn1Lock(repository) })),
  'yarn 4': node('yarn.lock', '^1.0.0', (repository) => ({
    'yarn.lock': berryLock(repository),
    '.yarnrc.yml': 'nodeLinker: node-modules\n',
  })),
  uv: {
    lockfile: 'uv.lock',
    runtime: 'python',
    files: (repository) => ({ ...pyprojects(repository), 'uv.lock': uvLockText(repository) }),
  },
};

/** The estate as a fleet: its stacks and its library, and a stack without any packages. */
export function estate({ runtime, files }: Manager, repository: Repository): Files {
  const source = runtime === 'python' ? '__main__.py' : 'index.js';
  const stacks = [1, 2].map((one) => ({
    [inFolder(one, 'towline.yaml')]: manifest(`w${one}`),
    [inFolder(one, 'Pulumi.yaml')]: project(`w${one}`, runtime),
    [inFolder(one, source)]: '',
  }));
  return {
    ...(Object.assign({}, ...stacks) as Files),
    ...files(repository),
    [inFolder(3, source)]: '',
    'stacks/yaml/towline.yaml': manifest('yaml'),
    'stacks/yaml/Pulumi.yaml': project('yaml', 'yaml'),
  };
}
