/** The files and digests of every placement. Trees are indexed once; what a placement cannot have becomes its reason. */
import { canonical, sha256 } from '../shared/canonical.ts';
import type { Reason } from '../shared/outcome.ts';
import type { Catalog, Problem } from './catalog/catalog.ts';
import { digestV1, policyDigest } from './digest/v1.ts';
import type { Tree } from './git/source.ts';
import { indexTree, type TreeIndex } from './inputs/folders.ts';
import { inputsOf } from './inputs/read.ts';
import type { Selection } from './inputs/select.ts';
import type { Placement, Refused, Wanted } from './placement.ts';
import type { Measured } from './poll.ts';
import { locatedReason } from './problem.ts';

/** What is kept for as long as a tree is the newest of its repository. */
interface Prepared {
  readonly tree: Tree;
  readonly index: TreeIndex;
  /** Contents that the choice of inputs needed, by object id. */
  readonly known: Map<string, Buffer>;
}

export type Measure = (
  placements: readonly Placement[],
  catalog: Catalog,
  trees: ReadonlyMap<string, Tree>,
) => Promise<Measured>;

/** Keeps indexes between passes. */
export function makeMeasure(): Measure {
  let prepared = new Map<string, Prepared>();

  const prepare = async (trees: ReadonlyMap<string, Tree>): Promise<void> => {
    const next = new Map<string, Prepared>();
    for (const [name, tree] of trees) {
      const before = prepared.get(name);
      const same = before?.tree.commit.id === tree.commit.id;
      next.set(name, same ? before : { tree, index: indexTree(await tree.entries()), known: new Map() });
    }
    prepared = next;
  };

  return async (placements, catalog, trees) => {
    await prepare(trees);
    const wanted: Wanted[] = [];
    const refused: Refused[] = [];
    const warnings: Problem[] = [];
    const selections = new Map<string, Promise<Selection>>();
    for (const placement of placements) {
      const source = prepared.get(placement.source.repository);
      if (source === undefined) {
        refused.push(refusal(placement, unread(placement)));
        continue;
      }
      const key = selectionKey(placement);
      const selection = await (selections.get(key) ??
        keep(selections, key, select(source, placement, catalog)));
      for (const text of selection.warnings) warnings.push(warning(placement, text));
      const [problem] = selection.problems;
      if (problem !== undefined) refused.push(refusal(placement, problem));
      else wanted.push(measured(placement, selection));
    }
    return { wanted, refused, warnings };
  };
}

const keep = (
  selections: Map<string, Promise<Selection>>,
  key: string,
  selection: Promise<Selection>,
): Promise<Selection> => {
  selections.set(key, selection);
  return selection;
};

const select = (source: Prepared, placement: Placement, catalog: Catalog): Promise<Selection> => {
  const { index, tree, known } = source;
  const documents = catalog.documents.get(placement.source.repository) ?? new Map();
  return inputsOf({ placement, index, projects: catalog.projects, documents }, tree, known).catch(unreadable);
};

/** What keeps one project from being read keeps no other one. */
const unreadable = (error: unknown): Selection => ({
  files: [],
  needs: [],
  problems: [{ code: 'SourceUnavailable', text: (error as Error).message }],
  warnings: [],
});

/** Everything of a placement that the choice of its files looks at: equal keys have equal files. */
const selectionKey = ({ source, inputs }: Placement): string =>
  sha256(canonical([source, inputs.stackConfig ?? '', inputs.pulumiStack]));

function measured(placement: Placement, { files }: Selection): Wanted {
  return {
    placement,
    inputDigest: digestV1(placement.inputs, files),
    policyDigest: policyDigest(placement.policy),
    files,
  };
}

const refusal = ({ stack, cluster, origin }: Placement, reason: Reason): Refused => ({
  stack,
  cluster,
  origin,
  reason: locatedReason(origin, reason),
});

const unread = ({ source }: Placement): Reason => ({
  code: 'SourceUnavailable',
  text: `repository ${source.repository} was not read since start`,
});

const warning = ({ stack, origin }: Placement, text: string): Problem => ({
  severity: 'warning',
  code: 'Invalid',
  origin,
  identity: { kind: 'Stack', ...stack },
  text,
});
