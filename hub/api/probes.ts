/** Probes, figures and the description of the API itself. */
import type { Metrics } from '../metrics.ts';
import type { ReadModel } from './model.ts';
import { json, none, problem, route, type Reply, type Route } from './route.ts';

/** The routes; `describe` gives the OpenAPI document. */
export const probeRoutes = (model: ReadModel, metrics: Metrics, describe: () => object): readonly Route[] => [
  route({
    path: '/healthz',
    summary: 'Whether this process should go on',
    params: none,
    query: none,
    answer: 'Health',
    problems: [],
    open: true,
    handle: () => {
      const reason = model.unhealthy();
      if (reason === undefined) return json('Health', { status: 'ok' });
      return { kind: 'json', body: { status: 'failing', reason }, status: 503 };
    },
  }),
  route({
    path: '/readyz',
    summary: 'Whether answers are about the whole fleet',
    params: none,
    query: none,
    answer: 'Ready',
    problems: ['not-ready'],
    open: true,
    handle: () => {
      const reason = model.notReady();
      return reason === undefined ? json('Ready', { status: 'ready' }) : problem('not-ready', reason);
    },
  }),
  route({
    path: '/metrics',
    summary: 'Figures for Prometheus',
    params: none,
    query: none,
    produces: ['text/plain'],
    problems: [],
    handle: async (): Promise<Reply> => ({ kind: 'text', ...(await metrics.expose(model)) }),
  }),
  route({
    path: '/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document',
    params: none,
    query: none,
    produces: ['application/json'],
    problems: [],
    open: true,
    handle: () => ({ kind: 'json', body: describe() }),
  }),
];
