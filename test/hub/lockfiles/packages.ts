/** Packages of the test's registry and a repository of workspaces that use them in every way. */
import type { MadePackage } from '../../harness/registry.ts';

export type Files = Readonly<Record<string, string>>;

/** A package whose export names it and what it gets of those that it depends on. */
export const made = (name: string, version: string, more: Partial<MadePackage> = {}): MadePackage => ({
  name,
  version,
  ...more,
  files: {
    'index.js': program(`${name} ${version}`, [
      ...Object.keys(more.dependencies ?? {}),
      ...Object.keys(more.peerDependencies ?? {}),
    ]),
    ...more.files,
  },
});

/** A module that exports what it is with the exports of others; those that are not there are named so. */
export const program = (what: string, names: readonly string[]): string =>
  [
    `const get = (name) => { try { return require(name); } catch (error) { if (error.code !== 'MODULE_NOT_FOUND') throw error; return 'no ' + name; } };`,
    `module.exports = ${JSON.stringify(what)} + [${names.map((name) => `get(${JSON.stringify(name)})`).join(', ')}].map((one) => '(' + one + ')').join('');`,
    `if (require.main === module) console.log(module.exports);`,
    '',
  ].join('\n');

export const manifest = (fields: object): string =>
  `${JSON.stringify({ version: '1.0.0', ...fields }, null, 2)}\n`;

export const PACKAGES: readonly MadePackage[] = [
  made('leaf', '1.0.0'),
  made('leaf', '1.1.0'),
  made('leaf', '2.0.0'),
  made('a', '1.0.0', { dependencies: { leaf: '^1.0.0' } }),
  made('a', '1.1.0', { dependencies: { leaf: '^1.0.0' } }),
  made('peered', '1.0.0', { peerDependencies: { a: '*' } }),
  made('optionally', '1.0.0', {
    peerDependencies: { absent: '*' },
    peerDependenciesMeta: { absent: { optional: true } },
  }),
  made('foreign', '1.0.0', { os: ['nowhere'], cpu: ['none'] }),
  made('extra', '1.0.0', { dependencies: { leaf: '^2.0.0' } }),
  made('tool', '1.0.0', { dependencies: { leaf: '1.1.0' } }),
  made('other', '1.0.0', { dependencies: { leaf: '^1.0.0' } }),
  made('other', '2.0.0', { dependencies: { leaf: '^1.0.0' } }),
  made('third', '1.0.0'),
  made('patched', '1.0.0'),
  made('lib', '9.0.0'),
  made('@scope/one', '1.0.0', { bin: { one: 'one.js' }, files: { 'one.js': '#!/usr/bin/env node\n' } }),
];
