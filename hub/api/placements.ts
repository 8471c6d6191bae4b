/** Routes of placements: the list, one of them, why, and its runs. */
import * as z from 'zod';
import type { RunRecord } from '../../shared/wire.ts';
import { whyAt } from '../history.ts';
import { STATUSES } from '../flags.ts';
import type { Liveness } from '../liveness.ts';
import { placementKey, type PlacementId } from '../placement.ts';
import type { Row } from '../view.ts';
import { agentsAt } from './agents.ts';
import { notKept, runAnswer, runDetailAnswer, whyAnswer } from './fleetview.ts';
import type { ReadModel } from './model.ts';
import { makeSorter, pageOf, SORTS } from './paging.ts';
import { decidedAnswer, defined, placementAnswer, placementDetail } from './placementview.ts';
import { commitId, json, none, problem, route, type Asked, type Reply, type Route } from './route.ts';
import { logStream, withHeartbeats } from './sse.ts';

/** A parameter that may be given several times, or once with commas. */
export const several = <T extends z.ZodType<string>>(one: T): z.ZodType<readonly z.output<T>[] | undefined> =>
  z.preprocess(
    (given) => (isGiven(given) ? [given].flat().flatMap((part) => part.split(',')) : given),
    z.array(one).optional(),
  );

/** The query string holds texts only. */
const isGiven = (given: unknown): given is string | string[] => given !== undefined;

/** A part of an identity: no wildcard and no dot-dot gets from here into a subject. */
const name = z
  .string()
  .regex(/^[a-z0-9*]([-a-z0-9.]*[a-z0-9])?$/, 'lower-case letters, digits, dashes and dots');
const placementParams = z.strictObject({ cluster: name, namespace: name, name });
const runParams = placementParams.extend({
  run: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, 'an id of a run'),
});
const PATH = '/v1/placements/{cluster}/{namespace}/{name}';

const listQuery = z.strictObject({
  cluster: several(z.string()).describe('Only of these clusters.'),
  namespace: several(z.string()).describe('Only of these namespaces.'),
  stack: several(z.string()).describe('Only stacks of these names.'),
  phase: several(z.enum(STATUSES)).describe('Only those that are shown so.'),
  label: several(z.string()).describe('`key` or `key=value`; all must hold.'),
  q: z.string().max(200).optional().describe('Part of the name, commit, subject or reason.'),
  sort: z.enum(SORTS).default('name').describe('A leading dash turns the order round.'),
  limit: z.coerce.number().int().min(1).max(500).default(100).describe('Rows of a page.'),
  cursor: z.string().max(2_000).optional().describe('`next` of the page before.'),
});

/** The routes over a model. */
export function placementRoutes(model: ReadModel): readonly Route[] {
  return [
    listRoute(model),
    detailRoute(model),
    whyRoute(model),
    runsRoute(model),
    runRoute(model),
    logRoute(model),
  ];
}

function listRoute(model: ReadModel): Route {
  const sorter = makeSorter();
  return route({
    path: '/v1/placements',
    summary: 'Placements, a page at a time',
    params: none,
    query: listQuery,
    answer: 'PlacementPage',
    problems: ['bad-request', 'bad-cursor'],
    handle: ({ query }) => {
      const now = model.now();
      const agentOf = agentsAt(model, now);
      const page = pageOf(sorter.sorted(model.view(), query.sort), defined(query), agentOf);
      if (page === undefined) return problem('bad-cursor', 'start again without a cursor');
      const items = page.rows.map((row) => placementAnswer(row, agentOf(row.cluster), now));
      const body = { items, total: page.total, next: page.next };
      return json('PlacementPage', body, { ...body, items: items.map(withoutBeat) });
    },
  });
}

function detailRoute(model: ReadModel): Route {
  return route({
    path: PATH,
    summary: 'One placement: order in force, reasons, last report, what is next, flags and ages',
    params: placementParams,
    query: none,
    answer: 'PlacementDetail',
    problems: ['bad-request', 'not-found'],
    handle: withRow(model, (row, { agent, now }) => {
      const body = placementDetail(row, agent, now);
      const { ages: _, ...tag } = body;
      return json('PlacementDetail', body, withoutBeat(tag));
    }),
  });
}

/** A beat alone changes nothing that is worth a new answer. */
const withoutBeat = <T extends { readonly agent: Liveness }>(body: T): T =>
  body.agent.state === 'Online' ? { ...body, agent: { ...body.agent, since: 0 } } : body;

const whyQuery = z.strictObject({
  commit: commitId.optional().describe('A kept commit; without it the newest decision is answered.'),
});

function whyRoute(model: ReadModel): Route {
  return route({
    path: `${PATH}/why`,
    summary: 'Why a commit did what it did to a placement',
    params: placementParams,
    query: whyQuery,
    answer: 'Why',
    problems: ['bad-request', 'not-found', 'commit-not-kept'],
    handle: (asked) => withRow(model, (row) => whyReply(model, row, asked.query.commit))(asked),
  });
}

function whyReply(model: ReadModel, row: Row, commit: string | undefined): Reply {
  const history = model.history();
  const id = commit ?? row.decided?.commit;
  const found = id === undefined ? undefined : whyAt(history, id, row);
  if (found !== undefined) return json('Why', whyAnswer(found));
  if (commit !== undefined) return problem('commit-not-kept', notKept(history));
  const decided = row.decided === undefined ? null : decidedAnswer(row.decided);
  const text =
    decided === null ? 'nothing has been decided about it yet' : `${decided.verdict}, decided earlier`;
  return json('Why', { commit: null, here: false, decided, text });
}

function runsRoute(model: ReadModel): Route {
  return route({
    path: `${PATH}/runs`,
    summary: 'The last finished runs of a placement, newest first',
    params: placementParams,
    query: none,
    answer: 'RunList',
    problems: ['bad-request', 'not-found', 'broker-unavailable'],
    handle: withRow(model, async (row) => {
      const runs = await fromBroker(model.runs(row));
      return json('RunList', { items: runs.map(runAnswer) });
    }),
  });
}

function runRoute(model: ReadModel): Route {
  return route({
    path: `${PATH}/runs/{run}`,
    summary: 'One finished run with its changed resources',
    params: runParams,
    query: none,
    answer: 'RunDetail',
    problems: ['bad-request', 'not-found', 'broker-unavailable'],
    handle: (asked) =>
      withRow(model, async (row) => {
        const run = await findRun(model, row, asked.params.run);
        return run === undefined ? noRun(asked.params.run) : json('RunDetail', runDetailAnswer(run));
      })(asked),
  });
}

function logRoute(model: ReadModel): Route {
  return route({
    path: `${PATH}/runs/{run}/log`,
    summary: 'Output of a run; with Accept: text/event-stream also while it works',
    params: runParams,
    query: none,
    answer: 'Log',
    produces: ['text/event-stream'],
    problems: ['bad-request', 'not-found', 'broker-unavailable'],
    handle: (asked) =>
      withRow(model, async (row) => {
        const { run } = asked.params;
        const known = row.report?.runId === run || (await findRun(model, row, run)) !== undefined;
        if (!known) return noRun(run);
        return wantsEvents(asked) ? followedLog(model, row, asked) : wholeLog(model, row, asked);
      })(asked),
  });
}

type AskedRun = Asked<z.output<typeof runParams>, unknown>;

function followedLog(model: ReadModel, row: Row, { params, headers, signal }: AskedRun): Reply {
  const chunks = model.log(row.cluster, { run: params.run, follow: true, signal });
  const parts = withHeartbeats(logStream(chunks, headerOf(headers['last-event-id'])), { signal });
  return { kind: 'stream', type: 'text/event-stream', parts };
}

/** Written as it is read, since a log may be larger than memory. */
function wholeLog(model: ReadModel, row: Row, { params, signal }: AskedRun): Reply {
  const { run } = params;
  const chunks = model.log(row.cluster, { run, follow: false, signal });
  return { kind: 'stream', type: 'application/json', parts: logBody(run, chunks) };
}

async function* logBody(
  run: string,
  chunks: ReturnType<ReadModel['log']>,
): AsyncGenerator<string, void, undefined> {
  let separator = '';
  let complete = false;
  yield `{"run":${JSON.stringify(run)},"lines":[`;
  for await (const { lines, last } of chunks) {
    for (const line of lines) {
      yield `${separator}${JSON.stringify(line)}`;
      separator = ',';
    }
    complete ||= last;
  }
  yield `],"complete":${complete}}`;
}

const findRun = async (model: ReadModel, id: PlacementId, run: string): Promise<RunRecord | undefined> =>
  (await fromBroker(model.runs(id))).find((record) => record.runId === run);

/** What the broker was asked for did not come. */
export class Unavailable extends Error {}

async function fromBroker<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new Unavailable((error as Error).message, { cause: error });
  }
}

const noRun = (run: string): Reply => problem('not-found', `no kept run ${run} of this placement`);

/** The only value of a header. */
export const headerOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** The client asked for server-sent events. */
export const wantsEvents = ({ headers }: Pick<AskedRun, 'headers'>): boolean =>
  (headerOf(headers['accept']) ?? '').includes('text/event-stream');

interface RowContext {
  readonly agent: Liveness;
  readonly now: number;
}

type RowAsked = Asked<z.output<typeof placementParams>, unknown>;

function withRow(
  model: ReadModel,
  handle: (row: Row, context: RowContext) => Reply | Promise<Reply>,
): (asked: RowAsked) => Promise<Reply> {
  return async ({ params: { cluster, namespace, name } }) => {
    const view = model.view();
    const at = view.index.get(placementKey({ cluster, stack: { namespace, name } }));
    const row = at === undefined ? undefined : view.rows[at];
    if (row === undefined) return problem('not-found', `no placement ${cluster}/${namespace}/${name}`);
    const now = model.now();
    return handle(row, { agent: agentsAt(model, now)(cluster), now });
  };
}
