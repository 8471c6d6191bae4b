/** Small repositories of workspaces by chance, with the lockfiles that the package managers would write for them. */
import { stringifySyml } from '@yarnpkg/parsers';
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import type { Workspaces } from '../../../hub/lockfiles/lockfile.ts';
import { bodyOf, yarn1Text } from '../../../hub/lockfiles/yarn1text.ts';

/** Things are named by their numbers: packages `p0`, workspaces `w0`. The workspace 0 is the root. */
export interface Repository {
  /** The last part of each package's version. */
  readonly packages: readonly number[];
  /** Packages that each package depends on. */
  readonly edges: readonly (readonly number[])[];
  /** What each workspace depends on: packages with the range that is asked for, and workspaces. */
  readonly workspaces: readonly {
    readonly packages: readonly { readonly to: number; readonly range: string }[];
    readonly workspaces: readonly number[];
  }[];
}

export const RANGES = ['^1.0.0', '1.x'];

export const repositories: fc.Arbitrary<Repository> = fc
  .record({ packages: fc.integer({ min: 1, max: 7 }), workspaces: fc.integer({ min: 2, max: 5 }) })
  .chain(({ packages, workspaces }) => {
    const to = fc.nat(packages - 1);
    const linked = fc.uniqueArray(fc.integer({ min: 1, max: workspaces - 1 }), { maxLength: 2 });
    const asked = fc.uniqueArray(fc.record({ to, range: fc.constantFrom(...RANGES) }), {
      maxLength: 3,
      selector: (one) => one.to,
    });
    const length = { minLength: packages, maxLength: packages };
    return fc.record({
      packages: fc.array(fc.nat(3), length),
      edges: fc.array(fc.uniqueArray(to, { maxLength: 2 }), length),
      workspaces: fc.array(fc.record({ packages: asked, workspaces: linked }), {
        minLength: workspaces,
        maxLength: workspaces,
      }),
    });
  });

export const folderOf = (workspace: number): string => (workspace === 0 ? '.' : `folder/w${workspace}`);

const dependenciesOf = (repository: Repository, workspace: number): [string, string][] => {
  const { packages, workspaces } = repository.workspaces[workspace] ?? { packages: [], workspaces: [] };
  return [
    ...packages.map(({ to, range }): [string, string] => [`p${to}`, range]),
    ...workspaces.filter((to) => to !== workspace).map((to): [string, string] => [`w${to}`, '^1.0.0']),
  ];
};

export const viewOf = (repository: Repository): Workspaces => {
  const folders = new Map(repository.workspaces.map((_, one) => [folderOf(one), one]));
  return {
    manifest(folder) {
      const one = folders.get(folder);
      if (one === undefined) return undefined;
      return {
        name: `w${one}`,
        version: '1.0.0',
        dependencies: Object.fromEntries(dependenciesOf(repository, one)),
      };
    },
    folderOf: (name) => (name.startsWith('w') ? folderOf(Number(name.slice(1))) : undefined),
  };
};

/** What a workspace installs with the root, found without any lockfile. */
export function closureOf(
  { edges, workspaces }: Repository,
  from: number,
): { packages: Set<number>; workspaces: Set<number> } {
  const linked = new Set([0, from]);
  for (const one of linked) workspaces[one]?.workspaces.forEach((to) => linked.add(to));
  const packages = new Set([...linked].flatMap((one) => workspaces[one]?.packages.map(({ to }) => to) ?? []));
  for (const one of packages) edges[one]?.forEach((to) => packages.add(to));
  return { packages, workspaces: linked };
}

/** Ranges by which anything in the repository asks for a package. */
function rangesFor({ edges, workspaces }: Repository, to: number): readonly string[] {
  const asked = workspaces.flatMap(({ packages }) =>
    packages.filter((one) => one.to === to).map(({ range }) => range),
  );
  return RANGES.filter(
    (range) => asked.includes(range) || (range === '^1.0.0' && edges.some((one) => one.includes(to))),
  );
}

/** Numbers of the packages that a lockfile of everything holds. */
const locked = (repository: Repository): number[] =>
  repository.packages
    .map((_, one) => one)
    .filter((one) => repository.workspaces.some((_, from) => closureOf(repository, from).packages.has(one)));

export function yarn1Lock(repository: Repository): string {
  const blocks = locked(repository).map((one) => ({
    patterns: rangesFor(reachable(repository), one).map((range) => `p${one}@${range}`),
    body: bodyOf({
      version: `1.0.${repository.packages[one]}`,
      resolved: `https://registry.example/p${one}-1.0.${repository.packages[one]}.tgz`,
      ...tableOf(repository.edges[one] ?? [], (to) => [`p${to}`, '^1.0.0']),
    }),
  }));
  return yarn1Text(blocks);
}

/** Without edges of packages that nothing installs. */
const reachable = (repository: Repository): Repository => {
  const kept = new Set(locked(repository));
  return { ...repository, edges: repository.edges.map((edges, one) => (kept.has(one) ? edges : [])) };
};

const tableOf = (numbers: readonly number[], entry: (to: number) => [string, string]): object =>
  numbers.length === 0 ? {} : { dependencies: Object.fromEntries(numbers.map(entry)) };

export function berryLock(repository: Repository): string {
  const packages = locked(repository).map((one) => [
    rangesFor(reachable(repository), one)
      .map((range) => `p${one}@npm:${range}`)
      .sort()
      .join(', '),
    {
      version: `1.0.${repository.packages[one]}`,
      resolution: `p${one}@npm:1.0.${repository.packages[one]}`,
      ...tableOf(repository.edges[one] ?? [], (to) => [`p${to}`, 'npm:^1.0.0']),
      linkType: 'hard',
    },
  ]);
  const workspaces = repository.workspaces.map((_, one) => {
    const dependencies = dependenciesOf(repository, one).map(
      ([name, range]) => [name, `npm:${range}`] as const,
    );
    const linked = repository.workspaces.some(({ workspaces: to }, from) => from !== one && to.includes(one));
    const own = `w${one}@workspace:${folderOf(one)}`;
    return [
      linked ? `w${one}@npm:^1.0.0, ${own}` : own,
      {
        version: '0.0.0-use.local',
        resolution: own,
        dependencies: Object.fromEntries(dependencies),
        linkType: 'soft',
      },
    ];
  });
  const header =
    '# This file is generated by running "yarn install" inside your project.\n' +
    '# Manual changes might be lost - proceed with caution!\n\n';
  return (
    header +
    stringifySyml({
      __metadata: { version: '8', cacheKey: '10c0' },
      ...(Object.fromEntries([...packages, ...workspaces]) as object),
    })
  );
}

export function uvLockText(repository: Repository): string {
  const names = (list: readonly (readonly [string, string])[]): object[] => list.map(([name]) => ({ name }));
  const members = repository.workspaces.map((_, one) => {
    const dependencies = dependenciesOf(repository, one);
    return {
      name: `w${one}`,
      version: '1.0.0',
      source: { virtual: folderOf(one) },
      dependencies: names(dependencies),
      metadata: { 'requires-dist': dependencies.map(([name, specifier]) => ({ name, specifier })) },
    };
  });
  const packages = locked(repository).map((one) => ({
    name: `p${one}`,
    version: `1.0.${repository.packages[one]}`,
    source: { registry: 'https://registry.example/simple' },
    dependencies: names((repository.edges[one] ?? []).map((to) => [`p${to}`, ''])),
  }));
  const head = {
    version: 1,
    revision: 3,
    'requires-python': '>=3.9',
    manifest: { members: members.map(({ name }) => name) },
  };
  return [head, ...[...packages, ...members].map((one) => ({ package: [one] }))]
    .map((one) => stringify(one))
    .join('\n');
}
