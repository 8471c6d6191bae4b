/** The HTTP server: routes from the table, tokens, problems, ETags and streams. It reads and changes nothing. */
import { Readable } from 'node:stream';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { sha256 } from '../../shared/canonical.ts';
import type { Log } from '../../shared/log.ts';
import { makeMetrics, type Metrics } from '../metrics.ts';
import { bearsToken, hostOf, isLoopback } from './auth.ts';
import { fleetRoutes } from './fleet.ts';
import type { ReadModel } from './model.ts';
import { openApi } from './openapi.ts';
import { placementRoutes, Unavailable } from './placements.ts';
import { probeRoutes } from './probes.ts';
import { problemOf } from './problems.ts';
import type { Reply, Route } from './route.ts';
import type { HttpProblem } from './schemas.ts';
import { watchAgents } from './watch.ts';

export interface ApiOptions {
  readonly log: Log;
  /** Hashes of the tokens that may ask; without any only this machine may. */
  readonly tokens: readonly Buffer[];
  readonly metrics?: Metrics;
}

/** Longest header, URL and body parts that are read, bytes: the API takes no bodies. */
const BODY_BYTES = 1_024;

/** Makes the server; its owner calls `listen` and `close`, which ends open streams. */
export async function makeApi(model: ReadModel, options: ApiOptions): Promise<FastifyInstance> {
  const { log, tokens } = options;
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 300 },
  });
  const routes = allRoutes(model, options.metrics ?? makeMetrics());
  const open = openPaths(routes);
  app.addHook('onRequest', async (request, reply) => {
    const refused = refusal(request, { tokens, open });
    if (refused !== undefined) return sendProblem(reply, refused);
    return undefined;
  });
  for (const route of routes) {
    app.get(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, reply) => answer(route, request, reply));
  }
  app.setNotFoundHandler((request, reply) => sendProblem(reply, noRoute(request)));
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, failureOf(error, log)));
  const stopWatching = watchAgents(model);
  app.addHook('preClose', async () => stopWatching());
  await app.ready();
  return app;
}

function allRoutes(model: ReadModel, metrics: Metrics): readonly Route[] {
  const routes: Route[] = [...placementRoutes(model), ...fleetRoutes(model)];
  routes.push(...probeRoutes(model, metrics, () => openApi(routes)));
  return routes;
}

const openPaths = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.filter(({ open }) => open === true).map(({ path }) => path));

/** Without tokens a page in a browser of this machine could ask under a name of its own: only local names are served. */
function refusal(
  request: FastifyRequest,
  { tokens, open }: { readonly tokens: readonly Buffer[]; readonly open: ReadonlySet<string> },
): HttpProblem | undefined {
  if (tokens.length === 0) {
    const host = hostOf(request.headers.host);
    return isLoopback(host) ? undefined : problemOf('wrong-host', 'ask for 127.0.0.1 or localhost');
  }
  if (open.has(request.routeOptions.url ?? '') || bearsToken(request.headers.authorization, tokens))
    return undefined;
  return problemOf('unauthorized', 'send Authorization: Bearer and a token of --api-token-file');
}

const noRoute = ({ method, url }: FastifyRequest): HttpProblem =>
  method === 'GET'
    ? problemOf('not-found', `no route ${url.split('?')[0] ?? ''}; see /openapi.json`)
    : problemOf('method-not-allowed', `${method} is not served: change is a commit`);

function failureOf(error: unknown, log: Log): HttpProblem {
  if (error instanceof Unavailable) return problemOf('broker-unavailable', error.message);
  const status = (error as { statusCode?: number }).statusCode;
  if (status !== undefined && status < 500) return problemOf('bad-request', (error as Error).message);
  log.error({ err: error }, 'an API request failed');
  return problemOf('internal', 'the cause is in the log of the hub');
}

async function answer(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const params = route.params.safeParse(request.params);
  const query = route.query.safeParse(request.query);
  if (!params.success || !query.success) {
    const issues = [...(params.error?.issues ?? []), ...(query.error?.issues ?? [])];
    return sendProblem(reply, badRequest(issues));
  }
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const asked = { params: params.data, query: query.data, headers: request.headers, signal: gone.signal };
  return send(reply, await route.handle(asked), request.headers['if-none-match']);
}

function badRequest(issues: readonly z.core.$ZodIssue[]): HttpProblem {
  const errors = issues.map(({ path, message }) => ({ path: path.join('.'), text: message }));
  return problemOf('bad-request', errors.map(({ path, text }) => `${path}: ${text}`).join('; '), errors);
}

function send(reply: FastifyReply, answered: Reply, ifNoneMatch: string | undefined): FastifyReply {
  void reply.header('cache-control', 'no-cache').header('x-content-type-options', 'nosniff');
  switch (answered.kind) {
    case 'problem':
      return sendProblem(reply, answered.problem);
    case 'text':
      return reply.type(answered.type).send(answered.text);
    case 'stream':
      return reply
        .type(answered.type)
        .header('x-accel-buffering', 'no')
        .send(Readable.from(answered.parts, { objectMode: false }));
    case 'json': {
      const body = JSON.stringify(answered.body);
      const tag = `"${sha256(answered.tag === undefined ? body : JSON.stringify(answered.tag)).slice(0, 32)}"`;
      void reply.header('etag', tag);
      if (matchesTag(ifNoneMatch, tag)) return reply.code(304).send();
      return reply
        .code(answered.status ?? 200)
        .type('application/json')
        .send(body);
    }
  }
}

const matchesTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag));

function sendProblem(reply: FastifyReply, problem: HttpProblem): FastifyReply {
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
  if (problem.status === 405) void reply.header('allow', 'GET');
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}
