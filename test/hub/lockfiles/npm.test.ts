import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Lockfile, Slice, Workspaces } from '../../../hub/lockfiles/lockfile.ts';
import { npmLock } from '../../../hub/lockfiles/npm.ts';
import { lockText, packagesOf, WORKSPACES, type Packages } from './npmlocks.ts';

const workspaces: Workspaces = { manifest: () => ({}), folderOf: (name) => WORKSPACES[name] };

function lockOf(text: string): Lockfile {
  const read = npmLock.parse(Buffer.from(text));
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

const sliceOf = (packages: Packages, folder = 'apps/s'): Slice =>
  lockOf(lockText(packages)).slice(folder, workspaces);

const packagesIn = (slice: Slice): Packages => (JSON.parse(slice.text()) as { packages: Packages }).packages;

test('a slice of a slice is the same slice', () => {
  fc.assert(
    fc.property(packagesOf, (packages) => {
      const once = sliceOf(packages);
      const twice = lockOf(once.text()).slice('apps/s', workspaces);
      assert.equal(twice.text(), once.text());
      assert.equal(twice.key, once.key);
      assert.deepEqual(twice.workspaces, once.workspaces);
      assert.deepEqual(twice.packages, once.packages);
    }),
  );
});

test('an edit outside the closure changes no byte, one inside changes the text and the key', () => {
  fc.assert(
    fc.property(packagesOf, fc.nat(), (packages, pick) => {
      const before = sliceOf(packages);
      const locations = Object.keys(packages).filter((location) => packages[location]?.['link'] !== true);
      const location = locations[pick % locations.length] ?? '';
      const edited = { ...packages, [location]: { ...packages[location], version: '9.9.9' } };
      const after = sliceOf(edited);
      const inside = location in packagesIn(before);
      assert.equal(after.text() === before.text(), !inside, location);
      assert.equal(after.key === before.key, !inside, location);
    }),
  );
});

test('two workspaces have equal keys in two lockfiles if and only if they have equal texts', () => {
  fc.assert(
    fc.property(packagesOf, fc.nat(), (packages, pick) => {
      const locations = Object.keys(packages).filter((location) => location.includes('node_modules/'));
      const gone = locations[pick % locations.length] ?? '';
      const { [gone]: _gone, ...rest } = packages;
      const [before, after] = [sliceOf(packages), sliceOf(rest)];
      assert.equal(after.key === before.key, after.text() === before.text());
    }),
  );
});

test('versions and shapes that are not known are taken whole', () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['{"lockfileVersion": 1, "dependencies": {}}', /lockfileVersion is 1, not 2 or 3/],
    ['{"lockfileVersion": 4, "packages": {"": {}}}', /lockfileVersion is 4/],
    ['{"packages": {"": {}}}', /lockfileVersion is undefined/],
    ['{"lockfileVersion": 3, "packages": {"": {}, "node_modules/a": 1}}', /not what npm writes/],
    ['{"lockfileVersion": 3, "packages": {}}', /not what npm writes/],
    ['[]', /not a JSON object/],
    ['{', /not a JSON object/],
  ];
  for (const [text, why] of rows) {
    const read = npmLock.parse(Buffer.from(text));
    assert.match(read.kind === 'whole' ? read.why : '', why, text);
  }
});

const ROOT = { name: 'root', workspaces: { packages: ['apps/*', 'libs/*'], nohoist: ['**/x'] } };
const LINKS = {
  'node_modules/s': { resolved: 'apps/s', link: true },
  'node_modules/l': { resolved: 'libs/l', link: true },
  'libs/l': { name: 'l', version: '1.0.0' },
};

test('archives, folders, bundled packages and aliases come with what depends on them', () => {
  const slice = sliceOf({
    '': ROOT,
    ...LINKS,
    'apps/s': {
      name: 's',
      dependencies: { tar: 'file:../../v/a#1.tgz', box: 'file:../../v/box', b: '1', al: 'npm:x@1' },
    },
    'node_modules/tar': { version: '1.0.0', resolved: 'file:v/a%231.tgz' },
    'node_modules/box': { resolved: 'v/box', link: true },
    'v/box': { name: 'box', version: '1.0.0', dependencies: { deep: '1' } },
    'v/box/node_modules/deep': { version: '1.0.0' },
    'node_modules/deep': { version: '2.0.0' },
    'node_modules/b': { version: '1.0.0', bundleDependencies: ['c'] },
    'node_modules/b/node_modules/c': { version: '1.0.0', inBundle: true },
    'node_modules/al': { name: 'x', version: '1.2.3' },
  });
  assert.deepEqual(slice.paths, ['v/a#1.tgz', 'v/box']);
  assert.deepEqual(slice.workspaces, []);
  const packages = packagesIn(slice);
  assert.ok('v/box/node_modules/deep' in packages && !('node_modules/deep' in packages));
  assert.ok('node_modules/b/node_modules/c' in packages && !('libs/l' in packages));
  assert.ok(slice.packages.has('al') && slice.packages.has('x@1.2.3') && !slice.packages.has('deep@2.0.0'));
  assert.deepEqual(packages['']?.['workspaces'], { packages: ['apps/s'], nohoist: ['**/x'] });
});

test('how a package is reached is said as of the slice', () => {
  const packages = packagesIn(
    sliceOf({
      '': { ...ROOT, devDependencies: { tool: '1' } },
      ...LINKS,
      'apps/s': {
        name: 's',
        devDependencies: { l: '*', d: '1' },
        optionalDependencies: { o: '1' },
        peerDependencies: { p: '1' },
      },
      'node_modules/d': { version: '1.0.0', dependencies: { both: '1' } },
      'node_modules/o': { version: '1.0.0', dependencies: { both: '1' } },
      'node_modules/p': { version: '1.0.0' },
      'node_modules/both': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dev: true, optional: true },
    }),
  );
  const flagged = Object.entries(packages).map(([location, { dev, optional, peer, devOptional }]) => [
    location.replace('node_modules/', ''),
    Object.entries({ dev, optional, peer, devOptional })
      .flatMap(([flag, is]) => (is === true ? [flag] : []))
      .join(),
  ]);
  assert.deepEqual(Object.fromEntries(flagged), {
    ...{ '': '', 'apps/s': '', 'libs/l': '', l: '', s: '', d: 'dev', o: 'optional', p: 'peer' },
    ...{ both: 'devOptional', tool: 'dev' },
  });
});

test('a workspace that is named but not there is refused, and so is one that the lockfile lacks', () => {
  const packages = { '': ROOT, ...LINKS, 'apps/s': { name: 's', dependencies: { l: '*' } } };
  const none: Workspaces = { manifest: () => undefined, folderOf: () => undefined };
  const lock = lockOf(lockText(packages));
  assert.match(
    lock.slice('apps/s', none).problems.join(),
    /the workspace l, but there is no libs\/l\/package\.json/,
  );
  assert.match(
    lock.slice('apps/new', workspaces).problems.join(),
    /has no workspace apps\/new: run npm install in apps\/new and commit/,
  );
  const moved: Workspaces = {
    manifest: () => ({}),
    folderOf: (name) => (name === 'l' ? 'libs/moved' : undefined),
  };
  assert.match(
    lock.slice('apps/s', moved).problems.join(),
    /l is the workspace libs\/moved, but package-lock\.json/,
  );
});

test('a chain longer than the stack of calls, and a long ring, are walked', () => {
  const length = 20_000;
  const chain = Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `node_modules/c${index}`,
      { version: '1.0.0', dependencies: { [`c${(index + 1) % length}`]: '1' } },
    ]),
  );
  const slice = sliceOf({ '': ROOT, ...LINKS, 'apps/s': { name: 's', dependencies: { c5: '1' } }, ...chain });
  assert.equal(Object.keys(packagesIn(slice)).length, length + 3);
  assert.match(slice.key, /^[0-9a-f]{64}$/);
});
