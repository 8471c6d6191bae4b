/** Lockfiles of npm, made at random: workspaces, links, nested packages, every kind of dependency, cycles. */
import fc from 'fast-check';

export type Entry = Readonly<Record<string, unknown>>;
export type Packages = Readonly<Record<string, Entry>>;

const NAMES = ['p0', 'p1', 'p2', 'p3', '@o/p4', 'p5', 'p6', 'p7'];
export const WORKSPACES: Readonly<Record<string, string>> = {
  s: 'apps/s',
  t: 'apps/t',
  l: 'libs/l',
  m: 'libs/m',
};

const dependencies = fc.uniqueArray(fc.constantFrom(...NAMES, 'l', 'm', 'absent'), { maxLength: 3 });
const KINDS = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const;

const packageFields = fc
  .record({
    version: fc.constantFrom('1.0.0', '1.1.0', '2.0.0'),
    kinds: fc.tuple(dependencies, dependencies, dependencies),
    optionalPeers: fc.boolean(),
  })
  .map(({ version, kinds, optionalPeers }): Entry => {
    const fields = KINDS.flatMap((kind, index) => {
      const names = kinds[index] ?? [];
      return names.length === 0
        ? []
        : [[kind, Object.fromEntries(names.map((name) => [name, '*']))] as const];
    });
    const meta = Object.fromEntries((kinds[2] ?? []).map((name) => [name, { optional: true }]));
    return {
      version,
      ...Object.fromEntries(fields),
      ...(optionalPeers ? { peerDependenciesMeta: meta } : {}),
    };
  });

const importerFields = fc.tuple(packageFields, dependencies).map(([fields, dev]): Entry => ({
  ...fields,
  devDependencies: Object.fromEntries(dev.map((name) => [name, '*'])),
}));

const places = fc.constantFrom(
  '',
  'apps/s/',
  'apps/t/',
  'libs/l/',
  'node_modules/p0/',
  'node_modules/@o/p4/',
);

interface Parts {
  readonly root: Entry;
  readonly importers: readonly Entry[];
  readonly top: readonly Entry[];
  readonly nested: readonly (readonly [string, string, Entry])[];
}

const four = { minLength: 4, maxLength: 4 };
const parts: fc.Arbitrary<Parts> = fc.record({
  root: importerFields,
  importers: fc.array(importerFields, four),
  top: fc.array(packageFields, { minLength: NAMES.length, maxLength: NAMES.length }),
  nested: fc.array(fc.tuple(places, fc.constantFrom(...NAMES), packageFields), { maxLength: 6 }),
});

/** The `packages` of a lockfile whose links all lead somewhere. */
export const packagesOf: fc.Arbitrary<Packages> = parts.map(({ root, importers, top, nested }) => ({
  '': { name: 'root', version: '1.0.0', workspaces: ['apps/*', 'libs/*'], ...root },
  ...Object.fromEntries(
    Object.entries(WORKSPACES).flatMap(([name, folder], index): [string, Entry][] => [
      [folder, { ...withoutItself(name, importers[index] ?? {}), name }],
      [`node_modules/${name}`, { resolved: folder, link: true }],
    ]),
  ),
  ...Object.fromEntries(
    nested.map(([place, name, fields]) => [`${place}node_modules/${name}`, withoutItself(name, fields)]),
  ),
  ...Object.fromEntries(
    NAMES.map((name, index) => [`node_modules/${name}`, withoutItself(name, top[index] ?? {})]),
  ),
}));

/** npm lets no package depend on its own name. */
const withoutItself = (name: string, fields: Entry): Entry =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      if (typeof value !== 'object' || value === null) return [field, value];
      return [field, Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))];
    }),
  );

/** The text of a lockfile, in npm's order: its reader relies on folders to stand before what is in them. */
export function lockText(packages: Packages): string {
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  const head = { name: 'root', version: '1.0.0', lockfileVersion: 3, requires: true };
  return JSON.stringify({ ...head, packages: Object.fromEntries(sorted) });
}
