/** Files → catalog: every manifest that counts, and what is wrong with the others. */
import type { DescribedKind } from '../../crds/kinds.ts';
import type { StackSpec } from '../../crds/stack.ts';
import type {
  Catalog,
  CatalogFile,
  ClusterManifest,
  DefaultsManifest,
  FleetManifest,
  Manifest,
  Origin,
  Problem,
  RemovalManifest,
  StackManifest,
} from './catalog.ts';
import type { Accepted } from './check.ts';
import { closedBy, tenantRefusals } from './closed.ts';
import { gatherProjects, readProject } from './project.ts';
import type { ReadProject } from './project.ts';
import { readManifests } from './reading.ts';
import type { Entry, Reading } from './reading.ts';
import { markDuplicates } from './unique.ts';
import { isProjectFile } from '../projectfile.ts';

/**
 * Reads all files; `now` (ms) only tells which removals are over. A file object that was read before is not parsed
 * again, so callers keep the object of a file that did not change.
 */
export function readCatalog(files: readonly CatalogFile[], now: number): Catalog {
  const sorted = [...files].sort((a, b) => compare(`${a.repository}:${a.path}`, `${b.repository}:${b.path}`));
  const readings = sorted
    .filter((file) => file.trust !== 'sources' && !isProjectFile(file.path))
    .map((file) => ({ file, reading: readManifests(file) }));
  const { entries, problems } = markDuplicates(readings.flatMap(({ reading }) => reading.entries));
  const unreadable = readings.flatMap(({ reading }) => reading.unreadable ?? []);
  const { projects, refused: refusedProjects } = gatherProjects(readProjects(sorted));
  const removals: readonly RemovalManifest[] = manifestsOf<RemovalManifest>(entries, 'Removal');
  const closed = closedBy(entries, unreadable);
  return {
    ...stacksOf(entries, closed.tenant),
    clusters: manifestsOf<ClusterManifest>(entries, 'Cluster'),
    defaults: manifestsOf<DefaultsManifest>(entries, 'Defaults'),
    ...fleetOf(entries, closed.fleet),
    removals,
    problems: sortProblems([
      ...readings.flatMap(({ reading }) => reading.problems),
      ...problems,
      ...expired(removals, now),
      ...refusedProjects.values(),
    ]),
    unreadable,
    refusedClusters: refusals(entries, 'Cluster').map(({ identity: { name }, problem }) => ({
      name,
      problem,
    })),
    refusedDefaults: refusals(entries, 'Defaults').map(({ origin, problem }) => ({ origin, problem })),
    documents: documentsOf(readings),
    projects,
    refusedProjects,
  };
}

function documentsOf(readings: readonly { file: CatalogFile; reading: Reading }[]): Catalog['documents'] {
  const found = new Map<string, Map<string, 'only' | 'mixed'>>();
  for (const { file, reading } of readings) {
    if (reading.holds === undefined) continue;
    const paths = found.get(file.repository) ?? new Map<string, 'only' | 'mixed'>();
    found.set(file.repository, paths.set(file.path, reading.holds));
  }
  return found;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const knownProjects = new WeakMap<CatalogFile, ReadProject>();

function readProjects(files: readonly CatalogFile[]): { file: CatalogFile; result: ReadProject }[] {
  return files
    .filter((file) => isProjectFile(file.path))
    .map((file) => {
      const result = knownProjects.get(file) ?? readProject(file);
      knownProjects.set(file, result);
      return { file, result };
    });
}

const knownManifests = new WeakMap<Accepted, StackManifest>();

/**
 * The manifests of a kind. The schema of the kind has checked the spec; the type is what it says. What was read before is
 * the same object again, so that later stages need not work it out again.
 */
function manifestsOf<M extends Manifest<unknown>>(entries: readonly Entry[], kind: DescribedKind): M[] {
  return entries.flatMap(({ origin, identity, manifest }) => {
    if (identity.kind !== kind || manifest === undefined) return [];
    const known = knownManifests.get(manifest) ?? manifestOf(origin, identity, manifest);
    knownManifests.set(manifest, known);
    return [known as Manifest<unknown> as M];
  });
}

const manifestOf = (
  origin: Origin,
  { name, namespace = '' }: Entry['identity'],
  { labels, annotations, spec, written, lines }: Accepted,
): StackManifest => ({
  ...{ origin, name, namespace, labels, annotations },
  ...{ spec: spec as StackSpec, written, lines },
});

const refusals = (
  entries: readonly Entry[],
  kind: DescribedKind,
): (Entry & { readonly problem: Problem })[] =>
  entries.flatMap((entry) =>
    entry.identity.kind === kind && entry.problem !== undefined ? [{ ...entry, problem: entry.problem }] : [],
  );

function stacksOf(
  entries: readonly Entry[],
  tenant: Problem | undefined,
): Pick<Catalog, 'stacks' | 'refusedStacks'> {
  const stacks = manifestsOf<StackManifest>(entries, 'Stack');
  const refusedStacks = refusals(entries, 'Stack').map(({ identity: { namespace = '', name }, problem }) => ({
    stack: { namespace, name },
    problem,
  }));
  if (tenant === undefined) return { stacks, refusedStacks };
  return { stacks: [], refusedStacks: [...refusedStacks, ...tenantRefusals(stacks, tenant)] };
}

function fleetOf(
  entries: readonly Entry[],
  closed: Problem | undefined,
): Pick<Catalog, 'fleet' | 'refusedFleet'> {
  if (closed !== undefined) return { refusedFleet: closed };
  const [fleet] = manifestsOf<FleetManifest>(entries, 'Fleet');
  return fleet === undefined ? {} : { fleet };
}

function expired(removals: readonly RemovalManifest[], now: number): Problem[] {
  return removals
    .filter(({ spec }) => Date.parse(spec.expires) <= now)
    .map(({ origin, name, spec }) => ({
      severity: 'warning',
      code: 'Invalid',
      origin,
      identity: { kind: 'Removal', name },
      text: `it was over at ${spec.expires} and decides nothing any more: delete it`,
    }));
}

const sortProblems = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort(
    (a, b) =>
      compare(`${a.origin.repository}:${a.origin.path}`, `${b.origin.repository}:${b.origin.path}`) ||
      a.origin.line - b.origin.line ||
      compare(a.text, b.text),
  );
