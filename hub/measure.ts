/** The files and digests of every placement; what a placement cannot have becomes its reason. */
import { canonical, sha256 } from '../shared/canonical.ts';
import type { Reason } from '../shared/outcome.ts';
import type { Catalog, Problem } from './catalog/catalog.ts';
import { policyDigest } from './digest/v1.ts';
import { digestV2, filesDigest } from './digest/v2.ts';
import type { Tree, TreeEntry } from './git/source.ts';
import { infer } from './inputs/runtimes.ts';
import type { SelectRequest } from './inputs/select.ts';
import { makeSelections, type Selected, type Selections } from './inputs/selections.ts';
import { wholeLockfile } from './inputs/whole.ts';
import { largeProblem, unmarkedPointers, withLarge, type Contents } from './large.ts';
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
  /**
   * The contents of a placement's files, for its artifact: those of the tree, those that were made, and what Git LFS keeps.
   * A pointer that is read by them though nothing marks its file is among the warnings from then on.
   */
  blobsOf(tree: Tree, wanted: Wanted): Contents;
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
        for (const placement of group) measured.push(resultOf(placement, tree, selected));
      }
      for (const name of repositories.keys()) if (!trees.has(name)) repositories.delete(name);
      return {
        wanted: measured.flatMap(({ wanted }) => wanted ?? []),
        refused: measured.flatMap(({ refused }) => refused ?? []),
        warnings: measured.flatMap(({ warnings }) => warnings),
      };
    },
    blobsOf(tree, { files, made, large }) {
      const contents = withLarge(tree, large);
      return {
        ...contents,
        async blob(id) {
          const file = made.get(id);
          const selections = repositories.get(tree.repository);
          if (file !== undefined && selections !== undefined) return selections.contentOf(file);
          const content = await contents.blob(id);
          if (!large.has(id)) noteUnmarked(files, unmarkedPointers(files, id, content));
          return content;
        },
      };
    },
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

function resultOf(
  placement: Placement,
  tree: Tree | undefined,
  all: ReadonlyMap<string, Selected> | undefined,
): Result {
  const selected = all?.get(selectionKey(placement));
  if (tree === undefined || selected === undefined)
    return { refused: refusal(placement, unread(placement)), warnings: [] };
  const unmarked = [...(unmarkedBefore.get(selected.files) ?? [])].map(looksLikePointer);
  const warnings = [...selected.warnings, ...unmarked].map((text) => warning(placement, text));
  const problem = selected.problems[0] ?? largeProblem(tree, selected.large);
  return problem === undefined
    ? { wanted: wantedOf(placement, selected), warnings }
    : { refused: refusal(placement, problem), warnings };
}

/** By the files of a placement, those whose content turned out to be a pointer when it was read for the artifact. */
const unmarkedBefore = new WeakMap<readonly TreeEntry[], ReadonlySet<string>>();

function noteUnmarked(files: readonly TreeEntry[], paths: readonly string[]): void {
  if (paths.length > 0) unmarkedBefore.set(files, new Set([...(unmarkedBefore.get(files) ?? []), ...paths]));
}

const looksLikePointer = (path: string): string =>
  `${path} is a Git LFS pointer, but no .gitattributes says filter=lfs of it, so runs get the pointer itself: mark it with “git lfs track”, or commit its content`;

const wantedBefore = new WeakMap<Placement, Wanted>();

/** The same object for as long as placement and files are the same. */
function wantedOf(placement: Placement, { files, made, large, filesDigest: digest }: Selected): Wanted {
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
    large,
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
