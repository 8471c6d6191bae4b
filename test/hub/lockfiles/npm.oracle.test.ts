/** The cut lockfile as npm's own reader of lockfiles sees it. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { npmLock } from '../../../hub/lockfiles/npm.ts';
import { layOut } from '../../harness/managers.ts';
import { tempFolder } from '../../harness/temp.ts';
import { lockText, packagesOf, WORKSPACES, type Packages } from './npmlocks.ts';

interface TreeNode {
  readonly location: string;
  readonly version: string | undefined;
  readonly package: Readonly<Record<string, object | undefined>>;
  readonly isLink: boolean;
  readonly target: TreeNode;
  readonly edgesOut: ReadonlyMap<string, { readonly type: string; readonly to: TreeNode | null }>;
  readonly inventory: { values(): Iterable<TreeNode> };
  readonly dev: boolean;
  readonly optional: boolean;
  readonly peer: boolean;
  readonly devOptional: boolean;
  resetDepFlags(): void;
}

const require = createRequire(import.meta.url);
const Arborist = require('@npmcli/arborist') as new (options: { path: string }) => {
  loadVirtual(): Promise<TreeNode>;
};
const folder = dirname(require.resolve('@npmcli/arborist'));
const calcDepFlags = require(join(folder, 'calc-dep-flags.js')) as (tree: TreeNode) => void;

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** Each node that the root, without its workspaces, and one workspace reach: where each dependency leads. */
function reached(tree: TreeNode, workspace: string): Readonly<Record<string, unknown>> {
  const start = tree.edgesOut.get(workspace)?.to;
  // a dependency of the root on a workspace has the type of all its workspaces
  const declared = new Set(SECTIONS.flatMap((section) => Object.keys(tree.package[section] ?? {})));
  const plain = [...tree.edgesOut].flatMap(([name, { type, to }]) =>
    type === 'workspace' && !declared.has(name) ? [] : (to ?? []),
  );
  const seen = new Set<TreeNode>([...plain, ...(start ? [start] : [])]);
  for (const node of seen) {
    if (node.isLink) seen.add(node.target);
    for (const { to } of node.edgesOut.values()) if (to !== null) seen.add(to);
  }
  return Object.fromEntries(
    [...seen].map((node) => [
      node.location,
      [node.version, [...node.edgesOut].map(([name, { type, to }]) => [name, type, to?.location]).sort()],
    ]),
  );
}

/** npm looks for workspaces on the disk. */
function manifestsIn(text: string): Readonly<Record<string, string>> {
  const { packages } = JSON.parse(text) as { packages: Packages };
  const importers = Object.entries(packages).filter(([location]) => !location.includes('node_modules/'));
  return Object.fromEntries(
    importers.map(([location, fields]) => [join(location, 'package.json'), JSON.stringify(fields)]),
  );
}

const flags = (tree: TreeNode): unknown =>
  [...tree.inventory.values()]
    .map(({ location, dev, optional, peer, devOptional }) => [
      location,
      { dev, optional, peer, devOptional: devOptional && !dev && !optional },
    ])
    .sort();

test('npm reads the same tree of a workspace from the cut lockfile, and would write the same flags', async (t) => {
  const workspaces = { manifest: () => ({}), folderOf: (name: string) => WORKSPACES[name] };
  await fc.assert(
    fc.asyncProperty(packagesOf, async (packages) => {
      const load = async (text: string): Promise<TreeNode> => {
        const path = await tempFolder(t, 'arborist');
        await layOut(path, { 'package-lock.json': text, ...manifestsIn(text) });
        return new Arborist({ path }).loadVirtual();
      };
      const text = lockText(packages);
      const read = npmLock.parse(Buffer.from(text));
      if (read.kind === 'whole') throw new Error(read.why);
      const cut = await load(read.lockfile.slice('apps/s', workspaces).text());
      assert.deepEqual(reached(cut, 's'), reached(await load(text), 's'));
      assert.equal(Object.keys(reached(cut, 's')).length, [...cut.inventory.values()].length - 1);
      const written = flags(cut);
      for (const node of cut.inventory.values()) if (node !== cut) node.resetDepFlags();
      calcDepFlags(cut);
      assert.deepEqual(written, flags(cut));
    }),
    { numRuns: 40 },
  );
});
