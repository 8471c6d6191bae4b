/** The OpenAPI 3.1 document, made from the table of routes and the zod types of their answers. */
import * as z from 'zod';
import { PROBLEMS } from './problems.ts';
import type { Route } from './route.ts';
import { schemas } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** Describes these routes. */
export const openApi = (routes: readonly Route[]): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Towline hub',
    version: '1',
    description:
      'Reads only: change is a commit. Times are milliseconds since the epoch. Lists and details carry an ETag.',
  },
  paths: Object.fromEntries(routes.map((route) => [route.path, { get: operation(route) }])),
  components: {
    schemas: componentSchemas(),
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
});

/** Named schemas refer to each other by their place in the document. */
function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, { $id: _, $schema: __, ...schema }]) => [id, schema]),
  );
}

const operation = (route: Route): Json => ({
  operationId: operationId(route.path),
  summary: route.summary,
  parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
  responses: { '200': success(route), ...failures(route) },
  security: route.open === true ? [] : [{ token: [] }],
});

/** `/v1/clusters/{name}` is `v1ClustersName`. */
const operationId = (path: string): string =>
  path
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((part, n) => (n === 0 ? part : part[0]?.toUpperCase() + part.slice(1)))
    .join('');

function success({ answer, produces }: Route): Json {
  const answers = answer === undefined ? {} : { 'application/json': { schema: ref(answer) } };
  const others = Object.fromEntries(
    (produces ?? []).map((type) => [
      type,
      { schema: { type: type === 'application/json' ? 'object' : 'string' } },
    ]),
  );
  return { description: 'As asked.', content: { ...answers, ...others } };
}

/** One entry for each status, as several problems may share one. */
function failures({ problems, open }: Route): Json {
  const codes = open === true ? problems : (['unauthorized', ...problems] as const);
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => PROBLEMS[code].title).join('; '),
        content: { 'application/problem+json': { schema: ref('Problem') } },
      },
    ]),
  );
}

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

interface ParameterSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function parameters(schema: z.ZodObject, place: 'path' | 'query'): readonly Json[] {
  const { properties, required } = z.toJSONSchema(schema, { io: 'input' }) as ParameterSchema;
  return Object.entries(properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (required?.includes(name) ?? false),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}
