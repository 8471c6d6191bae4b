/** The files and digests of every placement; what a placement cannot have becomes its reason. */
import { canonical, sha256 } from '../shared/canonical.ts';
import type { Reason } from '../shared/outcome.ts';
import type { Catalog, Problem } from './catalog/catalog.ts';
import { policyDigest } from './digest/v1.ts';
import { digestV2, filesDigest } from './digest/v2.ts';
import type { Tree } from './git/source.ts';
import { infer } from './inputs/runtimes.ts';
import type { SelectRequest } from './inputs/select.ts';
import { makeSelections, type Selected, type Selections } from './inputs/selections.ts';
import { wholeLockfile } from './inputs/whole.ts';
import type { Placement, Refused, Wanted } from './placement.ts';
import type { Measured } from './survey.ts';
import { locatedReason } from './problem.ts';

export interface Measure {
  /** Measures placements against the trees of their repositories. */
  all(
    placements: readonly Placement[],
    catalog: Catalog,
    trees: ReadonlyMap<string, Tree>,
  ): Promise<Measured>;
  /** The tree with the content of the files that were made for a placement, for its artifact. */
  blobsOf(tree: Tree, wanted: Wanted): Pick<Tree, 'blob'>;
}

/** Keeps what it chose between passes. */
export function makeMeasure(): Measure {
  const repositories = new Map<string, Selections>();

  const selectIn = async (
    tree: Tree,
    placements: readonly Placement[],
    catalog: Catalog,
  ): Promise<ReadonlyMap<string, Selected>> => {
    const selections = repositories.get(tree.repository) ?? makeSelections(filesDigest);
    repositories.set(tree.repository, selections);
    const requests = new Map(
      placements.map((placement) => [selectionKey(placement), requestOf(placement, catalog)] as const),
    );
    return selections.selectAll(tree, requests);
  };
  return {
    async all(placements, catalog, trees) {
      const measured: Result[] = [];
      for (const [name, group] of Map.groupBy(placements, ({ source }) => source.repository)) {
        const tree = trees.get(name);
        const selected = tree && (await selectIn(tree, group, catalog));
        for (const placement of group) measured.push(resultOf(placement, selected));
      }
      for (const name of repositories.keys()) if (!trees.has(name)) repositories.delete(name);
      return {
        wanted: measured.flatMap(({ wanted }) => wanted ?? []),
        refused: measured.flatMap(({ refused }) => refused ?? []),
        warnings: measured.flatMap(({ warnings }) => warnings),
      };
    },
    blobsOf: (tree, { made }) => ({
      blob: (id) => {
        const file = made.get(id);
        const selections = repositories.get(tree.repository);
        return file === undefined || selections === undefined ? tree.blob(id) : selections.contentOf(file);
      },
    }),
  };
}

const requestOf = (placement: Placement, { projects, documents }: Catalog): SelectRequest => ({
  placement,
  projects,
  documents: documents.get(placement.source.repository) ?? new Map(),
  infer: placement.source.inferInputs ? infer : wholeLockfile,
});

const selectionKeys = new WeakMap<Placement, string>();

/** Everything of a placement that the choice of its files looks at: equal keys have equal files. */
function selectionKey(placement: Placement): string {
  const known = selectionKeys.get(placement);
  if (known !== undefined) return known;
  const { source, inputs } = placement;
  const key = sha256(canonical([source, inputs.stackConfig ?? '', inputs.pulumiStack]));
  selectionKeys.set(placement, key);
  return key;
}

interface Result {
  readonly wanted?: Wanted;
  readonly refused?: Refused;
  readonly warnings: readonly Problem[];
}

function resultOf(placement: Placement, all: ReadonlyMap<string, Selected> | undefined): Result {
  const selected = all?.get(selectionKey(placement));
  if (selected === undefined) return { refused: refusal(placement, unread(placement)), warnings: [] };
  const warnings = selected.warnings.map((text) => warning(placement, text));
  const [problem] = selected.problems;
  return problem === undefined
    ? { wanted: wantedOf(placement, selected), warnings }
    : { refused: refusal(placement, problem), warnings };
}

const wantedBefore = new WeakMap<Placement, Wanted>();

/** The same object for as long as placement and files are the same. */
function wantedOf(placement: Placement, { files, made, filesDigest: digest }: Selected): Wanted {
  const before = wantedBefore.get(placement);
  if (before?.files === files) return before;
  const wanted = {
    placement,
    inputDigest: digestV2(placement.inputs, digest),
    // what is shipped besides the inputs is in no digest, but an agent has to learn of it
    policyDigest: policyDigest(
      placement.policy,
      placement.source.hermetic === false ? { hermetic: false } : {},
    ),
    files,
    made,
  };
  wantedBefore.set(placement, wanted);
  return wanted;
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
