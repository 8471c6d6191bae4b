/** What a project of a work tree declares, as of the commit that is checked out. */
import { dirname, relative, resolve } from 'node:path';
import type { Surroundings } from '../../../shared/surroundings.ts';
import { makeGather } from '../../catalog/files.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { readCatalog } from '../../catalog/read.ts';
import { gitFolders, makeLocal } from '../../git/local.ts';
import type { Tree } from '../../git/source.ts';
import { makeMeasure } from '../../measure.ts';
import type { Placement } from '../../placement.ts';
import { layerFinder } from '../../resolve/layers.ts';
import { locate } from '../../resolve/locate.ts';
import { POLICY_DEFAULTS } from '../../resolve/policy.ts';
import { surroundingsOf } from '../../surroundings.ts';

export interface Wish {
  /** Folder of Pulumi.yaml. */
  readonly folder: string;
  /** Of the settings that the stack reads. */
  readonly stack: string;
  /** Besides those of the stacks that are committed for this project. */
  readonly include: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export type Declared =
  | { readonly kind: 'declared'; readonly root: string; readonly surroundings: Surroundings }
  | { readonly kind: 'unknown'; readonly why: string };

const NAME = 'self';

/** Reads the commit and chooses the project's inputs as a hub does. */
export async function declaredOf(wish: Wish): Promise<Declared> {
  const root = await rootAbove(wish.folder);
  if (root === undefined) return unknown(`${wish.folder} is in no Git repository`);
  const git = { program: 'git', environment: wish.environment };
  const driver = makeLocal({ git, name: NAME, path: root });
  try {
    const tip = await driver.fetch('HEAD', { anew: false });
    const opened = tip.kind === 'tip' ? await driver.open(tip.id, 'HEAD') : tip;
    if (opened.kind !== 'opened') return unknown(opened.message);
    return await chooseIn(opened.tree, root, wish);
  } finally {
    await driver.close();
  }
}

const unknown = (why: string): Declared => ({ kind: 'unknown', why });

async function rootAbove(folder: string): Promise<string | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if ((await gitFolders(at)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

async function chooseIn(tree: Tree, root: string, wish: Wish): Promise<Declared> {
  const view = { name: NAME, trust: 'fleet', manifests: [], tree } as const;
  const now = Date.now();
  const gathered = await makeGather()([
    { ...view, url: root, ref: tree.ref, state: 'Ready', since: now, checkedAt: now },
  ]);
  const catalog = readCatalog(gathered.files, now);
  const project = relative(root, resolve(wish.folder)) || '.';
  const measure = makeMeasure();
  const placement = placementOf(project, [...includesOf(catalog, project), ...wish.include], wish.stack);
  const { wanted, refused } = await measure.all([placement], catalog, new Map([[NAME, tree]]));
  const [found] = wanted;
  if (found === undefined) return unknown(refused[0]?.reason.text ?? `${project} cannot be read`);
  const documents = catalog.documents.get(NAME);
  const surroundings = surroundingsOf(
    await tree.entries(),
    found.files.map(({ path }) => path),
    { project, isManifest: (path) => documents?.get(path) === 'only' },
  );
  return { kind: 'declared', root, surroundings };
}

/** What the stacks of the project include, each from the nearest document that says it. */
function includesOf(catalog: Catalog, project: string): string[] {
  const layersOf = layerFinder(catalog);
  return catalog.stacks.flatMap((stack) => {
    const located = locate(stack.spec, { repository: NAME, name: NAME, manifest: stack.origin }, catalog);
    if (located.kind !== 'project' || located.project.folder !== project) return [];
    const layers = layersOf(stack);
    const said = (layers.kind === 'layers' ? layers.layers : []).flatMap(({ fields }) => {
      const include = (fields['source'] as { readonly include?: unknown } | undefined)?.include;
      return Array.isArray(include) ? [include.filter((one) => typeof one === 'string')] : [];
    });
    return said.at(-1) ?? [];
  });
}

const placementOf = (project: string, include: readonly string[], stack: string): Placement => ({
  cluster: '*',
  stack: { namespace: 'default', name: 'audit' },
  origin: { repository: NAME, path: project, line: 1 },
  source: { repository: NAME, project, include, inferInputs: true },
  inputs: { project, pulumiStack: stack },
  policy: { ...POLICY_DEFAULTS, labels: {}, annotations: {} },
  claim: '',
});
