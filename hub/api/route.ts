/** Routes as data: one table serves the requests and describes them. */
import * as z from 'zod';
import { problemOf, type ProblemCode } from './problems.ts';
import type { Answer as Body, HttpProblem, SchemaName } from './schemas.ts';

/** What a handler answers. The owner of the connection writes it. */
export type Reply =
  /** `tag`: what decides whether it changed, where that is not the whole body. */
  | { readonly kind: 'json'; readonly body: unknown; readonly tag?: unknown; readonly status?: number }
  | { readonly kind: 'problem'; readonly problem: HttpProblem }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  | { readonly kind: 'stream'; readonly type: string; readonly parts: AsyncIterable<string> };

export interface Asked<Params, Query> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Aborted when the client is gone or the server stops. */
  readonly signal: AbortSignal;
}

export interface Route {
  /** As in OpenAPI, `/v1/clusters/{name}`. */
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** The JSON answer by schema; absent for answers of other types. */
  readonly answer?: SchemaName;
  /** Other media types that it may answer with. */
  readonly produces?: readonly string[];
  readonly problems: readonly ProblemCode[];
  /** Needs no token. */
  readonly open?: true;
  handle(asked: Asked<unknown, unknown>): Promise<Reply>;
}

interface Definition<P extends z.ZodObject, Q extends z.ZodObject> extends Omit<
  Route,
  'params' | 'query' | 'handle'
> {
  readonly params: P;
  readonly query: Q;
  handle(asked: Asked<z.output<P>, z.output<Q>>): Promise<Reply> | Reply;
}

/** A route whose handler sees checked parameters of the types that it declares. */
export const route = <P extends z.ZodObject, Q extends z.ZodObject>(definition: Definition<P, Q>): Route => ({
  ...definition,
  handle: async (asked) =>
    definition.handle({ ...asked, params: asked.params as z.output<P>, query: asked.query as z.output<Q> }),
});

/** A JSON answer of a schema's type. */
export const json = <N extends SchemaName>(_schema: N, body: Body<N>, tag?: unknown): Reply => ({
  kind: 'json',
  body,
  ...(tag === undefined ? {} : { tag }),
});

/** An answer that says what is wrong. */
export const problem = (code: ProblemCode, detail: string): Reply => ({
  kind: 'problem',
  problem: problemOf(code, detail),
});

/** No parameters. */
export const none = z.strictObject({});

/** A commit as a parameter. */
export const commitId = z
  .string()
  .regex(/^[0-9a-f]{7,64}$/, 'an id of a commit, at least its first seven digits');
