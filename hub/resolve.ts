/** Catalog → placements: every stack on every cluster that it selects, with nothing left to choose. */
import { canonical, sha256 } from '../shared/canonical.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { AskedSource } from './git/source.ts';
import type { Refused, Resolution } from './placement.ts';
import { placementKey } from './placement.ts';
import { printOrigin, reasonOf } from './problem.ts';
import { candidatesOf } from './resolve/fleet.ts';
import { layerFinder } from './resolve/layers.ts';
import { resolveStack } from './resolve/stack.ts';
import type { Sources } from './resolve/sought.ts';

/**
 * Resolves everything; `now` (ms) decides suspensions and keys that end, `sources` says which repositories were read.
 * The order of the files changes nothing.
 */
export function resolve(catalog: Catalog, now: number, sources: Sources = ALL_READ): Resolution {
  const candidates = candidatesOf(catalog, now);
  const clusters = sha256(
    canonical([candidates.clusters, [...candidates.refused], candidates.uncertain ?? '']),
  );
  const around = { catalog, candidates, clusters, layersOf: layerFinder(catalog), now, sources };
  const results = catalog.stacks.map((stack) => resolveStack(stack, around));
  return {
    placements: sortedBy(
      results.flatMap(({ placements }) => placements),
      placementKey,
    ),
    refused: sortedBy(
      [...catalogRefusals(catalog), ...results.flatMap(({ refused }) => refused)],
      refusedKey,
    ),
    warnings: sortedBy(
      results.flatMap(({ warnings }) => warnings),
      ({ origin, text }) => `${printOrigin(origin)} ${text}`,
    ),
    clusters: candidates.clusters.map(({ resolved }) => resolved),
    asked: distinct(results.flatMap(({ asked }) => asked ?? [])),
    ...frozenBy(catalog),
  };
}

/** Enough for who reads everything before. */
const ALL_READ: Sources = { read: { has: () => true }, unread: new Map() };

const distinct = (asked: readonly AskedSource[]): AskedSource[] =>
  sortedBy([...new Map(asked.map((one) => [one.name, one])).values()], ({ name }) => name);

/** Each key is made once. */
const sortedBy = <T>(values: readonly T[], keyOf: (value: T) => string): T[] =>
  values
    .map((value) => ({ value, key: keyOf(value) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ value }) => value);

const refusedKey = ({ stack, cluster = '', origin }: Refused): string =>
  `${stack.namespace}/${stack.name}/${cluster} ${printOrigin(origin)}`;

const catalogRefusals = ({ refusedStacks }: Catalog): Refused[] =>
  refusedStacks.map(({ stack, problem }) => ({ stack, origin: problem.origin, reason: reasonOf(problem) }));

function frozenBy({ refusedFleet }: Catalog): Pick<Resolution, 'frozen'> {
  if (refusedFleet === undefined) return {};
  const { code, text } = reasonOf(refusedFleet);
  return {
    frozen: { code, text: `${text} (whether the fleet is suspended is not known, so nothing new starts)` },
  };
}
