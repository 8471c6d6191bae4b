/** Routes of the fleet: clusters, commits, sources, problems and events. */
import * as z from 'zod';
import { placementKey } from '../placement.ts';
import { findCommit } from '../history.ts';
import { VERDICTS, type Decision } from '../decision.ts';
import { agentsAt } from './agents.ts';
import type { HubEvent } from './events.ts';
import {
  clusterAnswer,
  commitAnswer,
  countByCluster,
  decisionAnswer,
  notKept,
  problemAnswer,
  sourceAnswer,
} from './fleetview.ts';
import type { ReadModel } from './model.ts';
import { headerOf, several } from './placements.ts';
import { commitId, json, none, problem, route, type Route } from './route.ts';
import { eventStream, withHeartbeats } from './sse.ts';

/** The routes over a model. */
export const fleetRoutes = (model: ReadModel): readonly Route[] => [
  clustersRoute(model),
  commitsRoute(model),
  commitRoute(model),
  sourcesRoute(model),
  problemsRoute(model),
  eventsRoute(model),
];

const clustersRoute = (model: ReadModel): Route =>
  route({
    path: '/v1/clusters',
    summary: 'Clusters with their agents and how many placements stand how',
    params: none,
    query: none,
    answer: 'ClusterList',
    problems: ['bad-request'],
    handle: () => {
      const agentOf = agentsAt(model, model.now());
      const counts = countByCluster(model.view(), agentOf);
      const board = model.board();
      const items = model
        .clusters()
        .map((one) =>
          clusterAnswer(one, { board, agent: agentOf(one.name), counts: counts.get(one.name) ?? {} }),
        );
      return json('ClusterList', { items });
    },
  });

const commitsRoute = (model: ReadModel): Route =>
  route({
    path: '/v1/commits',
    summary: 'The last planned commits, newest first',
    params: none,
    query: none,
    answer: 'CommitList',
    problems: ['bad-request'],
    handle: () => json('CommitList', { items: model.history().commits.map(commitAnswer) }),
  });

const commitParams = z.strictObject({ commit: commitId });
const commitQuery = z.strictObject({
  cluster: several(z.string()).describe('Only decisions for these clusters.'),
  verdict: several(z.enum(VERDICTS)).describe('Only decisions of these kinds.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(500).describe('Decisions of a page.'),
  cursor: z.string().max(1_000).optional().describe('`next` of the page before.'),
});

const commitRoute = (model: ReadModel): Route =>
  route({
    path: '/v1/commits/{commit}',
    summary: 'A planned commit with every placement that it started, held or left alone for a new reason',
    params: commitParams,
    query: commitQuery,
    answer: 'CommitDetail',
    problems: ['bad-request', 'commit-not-kept'],
    handle: ({ params, query }) => {
      const history = model.history();
      const planned = findCommit(history, params.commit);
      if (planned === undefined) return problem('commit-not-kept', notKept(history));
      const wanted = planned.decisions.filter(
        ({ cluster, verdict }) =>
          (query.cluster?.includes(cluster) ?? true) && (query.verdict?.includes(verdict) ?? true),
      );
      const page = decisionPage(wanted, query);
      return json('CommitDetail', {
        ...commitAnswer(planned),
        decisions: page.decisions.map(decisionAnswer),
        next: page.next,
      });
    },
  });

/** By placement key; the cursor is the last one shown. */
function decisionPage(
  decisions: readonly Decision[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly decisions: readonly Decision[]; readonly next: string | null } {
  const sorted = decisions
    .map((decision) => ({ key: placementKey(decision), decision }))
    .filter(({ key }) => cursor === undefined || key > cursor)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const shown = sorted.slice(0, limit);
  const next = sorted.length > limit ? (shown.at(-1)?.key ?? null) : null;
  return { decisions: shown.map(({ decision }) => decision), next };
}

const sourcesRoute = (model: ReadModel): Route =>
  route({
    path: '/v1/sources',
    summary: 'Watched repositories, their state and since when',
    params: none,
    query: none,
    answer: 'SourceList',
    problems: ['bad-request'],
    handle: () => json('SourceList', { items: model.sources().map(sourceAnswer) }),
  });

const problemsRoute = (model: ReadModel): Route =>
  route({
    path: '/v1/problems',
    summary: 'Errors and warnings of the manifests, with file and line',
    params: none,
    query: none,
    answer: 'CatalogProblemList',
    problems: ['bad-request'],
    handle: () => json('CatalogProblemList', { items: model.problems().map(problemAnswer) }),
  });

const eventsQuery = z.strictObject({
  cluster: several(z.string()).describe('Only events of these clusters; events of no cluster are left out.'),
  stack: several(z.string()).describe('Only events of these stacks, as `namespace/name`.'),
});

const eventsRoute = (model: ReadModel): Route =>
  route({
    path: '/v1/events',
    summary: 'What changes, as it happens; resumable by Last-Event-ID',
    params: none,
    query: eventsQuery,
    produces: ['text/event-stream'],
    problems: ['bad-request'],
    handle: ({ query, headers, signal }) => {
      const events = eventStream(model.events, {
        lastEventId: headerOf(headers['last-event-id']),
        matches: (event) => matches(event, query),
        signal,
      });
      return { kind: 'stream', type: 'text/event-stream', parts: withHeartbeats(events, { signal }) };
    },
  });

function matches(event: HubEvent, { cluster, stack }: z.output<typeof eventsQuery>): boolean {
  if (cluster !== undefined && !('cluster' in event && cluster.includes(event.cluster))) return false;
  if (stack === undefined) return true;
  return event.kind === 'placement' && stack.includes(`${event.namespace}/${event.name}`);
}
