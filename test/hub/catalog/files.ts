/** Repositories as text, for tests of the catalog and what follows it. */
import type { Catalog, CatalogFile } from '../../../hub/catalog/catalog.ts';
import { readCatalog } from '../../../hub/catalog/read.ts';
import type { Trust } from '../../../hub/git/source.ts';
import type { Placement, Resolution } from '../../../hub/placement.ts';
import { placementKey } from '../../../hub/placement.ts';
import { printProblem } from '../../../hub/problem.ts';
import { resolve } from '../../../hub/resolve.ts';

/** The time of these tests, ms. */
export const NOW = Date.parse('2026-12-01T00:00:00Z');

/** One file of the fleet's repository. */
export const file = (path: string, content: string | Buffer): CatalogFile => ({
  repository: 'fleet',
  trust: 'fleet',
  path,
  content: Buffer.from(content),
});

/** `=== path` or `=== repository:path (trust)` before each file's text. */
export function files(text: string): CatalogFile[] {
  const parts = text.split(/^=== (.+)$/m).slice(1);
  return parts.flatMap((head, index) => {
    if (index % 2 === 1) return [];
    const [, repository = 'fleet', path = '', trust = 'fleet'] =
      /^(?:(\S+):)?(\S+)(?: \((\w+)\))?$/.exec(head) ?? [];
    const content = (parts[index + 1] ?? '').replace(/^\n/, '');
    return [{ ...file(path, content), repository, trust: trust as Trust }];
  });
}

export const catalogOf = (text: string): Catalog => readCatalog(files(text), NOW);
export const resolutionOf = (text: string): Resolution => resolve(catalogOf(text), NOW);

/** The placement with this key; fails when there is none. */
export function placementOf(resolution: Resolution, key: string): Placement {
  const found = resolution.placements.find((placement) => placementKey(placement) === key);
  if (found === undefined) throw new Error(`no placement ${key}; refused: ${printResolution(resolution)}`);
  return found;
}

/** What a catalog says is wrong and what that closes, a line each. */
export const printCatalog = (catalog: Catalog): string =>
  [
    ...catalog.problems.map(printProblem),
    ...catalog.stacks.map(({ namespace, name }) => `stack ${namespace}/${name}`),
    ...catalog.clusters.map(({ name }) => `cluster ${name}`),
    ...catalog.refusedStacks.map(
      ({ stack, problem }) => `refused stack ${stack.namespace}/${stack.name}: ${problem.code}`,
    ),
    ...catalog.refusedClusters.map(({ name }) => `refused cluster ${name}`),
    ...catalog.unreadable.map(
      ({ file: { path }, mentions }) => `unreadable ${path} (${mentions.join(', ')})`,
    ),
  ].join('\n');

/** Placements, refusals and warnings, a line each. */
export const printResolution = ({ placements, refused, warnings, frozen }: Resolution): string =>
  [
    ...placements.map((placement) => `placed ${placementKey(placement)} ${placement.inputs.pulumiStack}`),
    ...refused.map(
      ({ stack, cluster, reason }) =>
        `refused ${stack.namespace}/${stack.name}${cluster === undefined ? '' : ` on ${cluster}`}: ${reason.code}: ${reason.text}`,
    ),
    ...warnings.map(printProblem),
    ...(frozen === undefined ? [] : [`frozen: ${frozen.text}`]),
  ].join('\n');
