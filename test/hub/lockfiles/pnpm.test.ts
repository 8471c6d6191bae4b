import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { load } from 'js-yaml';
import type { Lockfile, Workspaces } from '../../../hub/lockfiles/lockfile.ts';
import { pnpmLock } from '../../../hub/lockfiles/pnpm.ts';
import { suffixStart } from '../../../hub/lockfiles/pnpmgraph.ts';

type Fields = Readonly<Record<string, unknown>>;
type Sections = Readonly<Record<string, Readonly<Record<string, Fields>>>>;

const FOLDERS: Readonly<Record<string, string>> = { s: 'apps/s', t: 'apps/t', l: 'libs/l' };
const workspaces: Workspaces = { manifest: () => ({}), folderOf: (name) => FOLDERS[name] };

function lockOf(text: string): Lockfile {
  const read = pnpmLock.parse(Buffer.from(text));
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

/** JSON is YAML. */
const written = (lock: object): string => JSON.stringify({ lockfileVersion: '9.0', ...lock });
const parsed = (text: string): Sections => load(text) as Sections;

const IDS = [
  'a@1.0.0',
  'a@2.0.0',
  'b@1.0.0',
  'c@1.0.0',
  'd@1.0.0(a@1.0.0)',
  'd@1.0.0(a@2.0.0)',
  '@o/e@1.0.0',
];
const nameOf = (id: string): string => id.slice(0, id.indexOf('@', 1));
const plainOf = (id: string): string => id.slice(0, suffixStart(id));

const ids = fc.uniqueArray(fc.constantFrom(...IDS), { maxLength: 3, selector: nameOf });
const versions = ids.map((some) =>
  Object.fromEntries(some.map((id) => [nameOf(id), id.slice(nameOf(id).length + 1)])),
);
const resolved = fc.tuple(versions, fc.boolean()).map(([some, linked]) => ({
  ...Object.fromEntries(Object.entries(some).map(([name, version]) => [name, { specifier: '*', version }])),
  ...(linked ? { l: { specifier: 'workspace:*', version: 'link:../../libs/l' } } : {}),
}));
type Resolved = Readonly<Record<string, { readonly specifier: string; readonly version: string }>>;
/** A name is in one section only, as pnpm writes it. */
const importer = fc.tuple(resolved, resolved, resolved).map(([one, two, three]: readonly Resolved[]) => ({
  dependencies: one ?? {},
  devDependencies: without(two, one),
  optionalDependencies: without(three, { ...one, ...two }),
}));
const without = <T>(
  some: Readonly<Record<string, T>> = {},
  names: object = {},
): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(some).filter(([name]) => !(name in names)));

const snapshot = fc.tuple(versions, versions).map(([dependencies, optional]) => ({
  dependencies,
  optionalDependencies: without(optional, dependencies),
}));

const locks = fc
  .record({
    importers: fc.record({ s: importer, t: importer, l: versions }),
    snapshots: fc.array(snapshot, { minLength: IDS.length, maxLength: IDS.length }),
  })
  .map(({ importers: { s, t, l }, snapshots }) => ({
    importers: {
      '.': { dependencies: { c: { specifier: '*', version: '1.0.0' } } },
      'apps/s': s,
      'apps/t': t,
      'libs/l': {
        dependencies: Object.fromEntries(
          Object.entries(l).map(([name, version]) => [name, { specifier: '*', version }]),
        ),
      },
    },
    packages: Object.fromEntries(
      IDS.map((id) => [plainOf(id), { resolution: { integrity: `sha512-${plainOf(id)}` } }]),
    ),
    snapshots: Object.fromEntries(IDS.map((id, index) => [id, snapshots[index] ?? {}])),
  }));

interface Filtering {
  filterLockfileByImportersAndEngine(
    lockfile: object,
    importers: readonly string[],
    options: object,
  ): {
    readonly lockfile: { readonly packages: object };
    readonly selectedImporterIds: readonly string[];
  };
}
const filtering = createRequire(import.meta.url)('@pnpm/lockfile.filtering') as Filtering;

/** A lockfile as pnpm holds it in memory: specifiers apart, packages and snapshots as one. */
const inMemory = (lock: Sections): object => ({
  lockfileVersion: '9.0',
  importers: Object.fromEntries(
    Object.entries(lock['importers'] ?? {}).map(([folder, sections]) => [
      folder,
      Object.fromEntries(
        Object.entries(sections).map(([kind, section]) => [
          kind,
          Object.fromEntries(
            Object.entries(section as Record<string, { version: string }>).map(([name, { version }]) => [
              name,
              version.startsWith('link:') ? version.replace('../../', '') : version,
            ]),
          ),
        ]),
      ),
    ]),
  ),
  packages: Object.fromEntries(
    Object.entries(lock['snapshots'] ?? {}).map(([id, one]) => [
      id,
      { ...lock['packages']?.[plainOf(id)], ...one },
    ]),
  ),
});

test('pnpm itself finds the packages of a slice, and no others', () => {
  fc.assert(
    fc.property(locks, (lock) => {
      const filtered = filtering.filterLockfileByImportersAndEngine(inMemory(lock), ['.', 'apps/s'], {
        currentEngine: { nodeVersion: '24.0.0' },
        engineStrict: false,
        failOnMissingDependencies: true,
        include: { dependencies: true, devDependencies: true, optionalDependencies: true },
        lockfileDir: '/',
        skipped: new Set(),
      });
      const cut = parsed(lockOf(written(lock)).slice('apps/s', workspaces).text());
      assert.deepEqual(
        Object.keys(cut['snapshots'] ?? {}).sort(),
        Object.keys(filtered.lockfile.packages).sort(),
      );
      assert.deepEqual(Object.keys(cut['importers'] ?? {}).sort(), [...filtered.selectedImporterIds].sort());
    }),
  );
});

test('a slice of a slice is the same slice', () => {
  fc.assert(
    fc.property(locks, (lock) => {
      const once = lockOf(written(lock)).slice('apps/s', workspaces);
      const twice = lockOf(once.text()).slice('apps/s', workspaces);
      assert.equal(twice.text(), once.text());
      assert.equal(twice.key, once.key);
      assert.deepEqual(twice.packages, once.packages);
    }),
  );
});

test('an edit outside the closure changes no byte, one inside changes the text and the key', () => {
  fc.assert(
    fc.property(locks, fc.constantFrom(...IDS), (lock, id) => {
      const before = lockOf(written(lock)).slice('apps/s', workspaces);
      const packages = { ...lock.packages, [plainOf(id)]: { resolution: { integrity: 'sha512-new' } } };
      const after = lockOf(written({ ...lock, packages })).slice('apps/s', workspaces);
      const inside = plainOf(id) in (parsed(before.text())['packages'] ?? {});
      assert.equal(after.text() === before.text(), !inside);
      assert.equal(after.key === before.key, !inside);
    }),
  );
});

test('versions and shapes that are not known are taken whole', () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['lockfileVersion: 5.4\n', /lockfileVersion is 5\.4, not 6\.0 or 9\.0/],
    ["lockfileVersion: '10.0'\n", /lockfileVersion is "10\.0"/],
    ['- a\n', /not a map/],
    ['a: [\n', /cannot be read/],
    ["lockfileVersion: '9.0'\nsettings: &a {}\nother: *a\n", /cannot be read/],
    ["lockfileVersion: '9.0'\nimporters: { a: 1 }\n", /not what pnpm writes/],
  ];
  for (const [text, why] of rows) {
    const read = pnpmLock.parse(Buffer.from(text));
    assert.match(read.kind === 'whole' ? read.why : '', why, text);
  }
});

test('version 6 says of each package whether it is optional and how dev reaches it', () => {
  const lock = lockOf(`lockfileVersion: '6.0'
settings: { autoInstallPeers: true }
importers:
  .: { devDependencies: { both: { specifier: '1', version: 1.0.0 }, dev: { specifier: '1', version: 1.0.0(both@1.0.0) } } }
  apps/s:
    dependencies:
      both: { specifier: '1', version: 1.0.0 }
      alias: { specifier: 'npm:real@1', version: /real@1.0.0 }
      box: { specifier: 'file:../../v/box', version: 'file:v/box' }
    optionalDependencies: { maybe: { specifier: '1', version: 1.0.0 } }
  apps/t: { dependencies: { maybe: { specifier: '1', version: 1.0.0 }, other: { specifier: '1', version: 1.0.0 } } }
packages:
  /both@1.0.0: { resolution: { integrity: sha512-b }, dev: false }
  /dev@1.0.0(both@1.0.0): { resolution: { integrity: sha512-d }, dependencies: { both: 1.0.0 }, dev: true }
  /real@1.0.0: { resolution: { integrity: sha512-r }, dev: false }
  /maybe@1.0.0: { resolution: { integrity: sha512-m }, dev: false }
  /other@1.0.0: { resolution: { integrity: sha512-o }, dev: false }
  file:v/box: { resolution: { directory: v/box, type: directory }, name: box, dev: false }
`);
  const slice = lock.slice('apps/s', workspaces);
  const flags = Object.entries(parsed(slice.text())['packages'] ?? {}).map(([key, { dev, optional }]) => [
    key,
    [dev, optional],
  ]);
  assert.deepEqual(Object.fromEntries(flags), {
    '/both@1.0.0': [undefined, undefined],
    '/dev@1.0.0(both@1.0.0)': [true, undefined],
    '/real@1.0.0': [false, undefined],
    '/maybe@1.0.0': [false, true],
    'file:v/box': [false, undefined],
  });
  assert.deepEqual(slice.paths, ['v/box']);
  assert.ok(['box', 'real@1.0.0', 'alias'].every((name) => slice.packages.has(name)));
});

test('a lockfile of a single project is one importer, and what pnpm writes before it stays', () => {
  const before = "---\nlockfileVersion: 'env-1.0'\nimporters: {}\n---\n";
  const single =
    "lockfileVersion: '6.0'\ndependencies:\n  a: { specifier: '1', version: 1.0.0 }\npackages:\n  /a@1.0.0: {}\n";
  const text = lockOf(before + single)
    .slice('.', workspaces)
    .text();
  assert.ok(text.startsWith(before));
  const { importers, packages } = parsed(text.slice(before.length));
  assert.deepEqual(Object.keys(importers ?? {}), ['.']);
  assert.deepEqual(Object.keys(packages ?? {}), ['/a@1.0.0']);
});

test('a workspace that is named but not there is refused, and so is an importer that the lockfile lacks', () => {
  const lock = lockOf(
    written({
      importers: {
        '.': {},
        'apps/s': { dependencies: { l: { specifier: 'workspace:*', version: 'link:../../libs/l' } } },
        'libs/l': {},
      },
    }),
  );
  const none: Workspaces = { manifest: () => undefined, folderOf: () => undefined };
  assert.match(lock.slice('apps/s', none).problems.join(), /the workspace l, but no workspace has that name/);
  assert.match(lock.slice('apps/new', workspaces).problems.join(), /no importer apps\/new: run pnpm install/);
  assert.deepEqual(lock.slice('apps/s', workspaces).problems, []);
});

test('where the peers of a key begin', () => {
  for (const [key, plain] of [
    ['a@1.0.0', 'a@1.0.0'],
    ['a@1.0.0(b@1.0.0(c@2))(patch_hash=1)', 'a@1.0.0'],
    ['a@file:x(y)/z', 'a@file:x(y)/z'],
    ['a@file:x(y)/z(b@1)', 'a@file:x(y)/z'],
    ['a@1)', 'a@1)'],
  ] as const)
    assert.equal(key.slice(0, suffixStart(key)), plain);
});
