/** When a manifest changes its meaning by itself: a suspension ends, a removal or a key expires. Pure. */
import type { Json } from '../shared/wire.ts';
import type { Catalog } from './catalog/catalog.ts';

const ENDS: ReadonlySet<string> = new Set(['until', 'expires', 'notAfter']);

/** The next such time after `now`, ms; Infinity when there is none. */
export function changesAt(catalog: Catalog, now: number): number {
  const { stacks, clusters, defaults, removals, fleet } = catalog;
  const manifests = [
    ...stacks,
    ...clusters,
    ...defaults,
    ...removals,
    ...(fleet === undefined ? [] : [fleet]),
  ];
  // a repository may hold more of them than a call takes arguments
  return manifests
    .flatMap(({ written }) => endsIn(written))
    .reduce((first, end) => (end > now && end < first ? end : first), Infinity);
}

function endsIn(value: Json): number[] {
  if (Array.isArray(value)) return value.flatMap(endsIn);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    const end = ENDS.has(field) && typeof inner === 'string' ? Date.parse(inner) : NaN;
    return Number.isNaN(end) ? endsIn(inner) : [end];
  });
}
