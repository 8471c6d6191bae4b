/** Errors of the API as RFC 9457 problems. */
import type { HttpProblem } from './schemas.ts';

interface Kind {
  readonly status: number;
  readonly title: string;
}

/** Every problem that the API answers, by the last part of its type. */
export const PROBLEMS = {
  'bad-request': { status: 400, title: 'The request is not understood' },
  'bad-cursor': { status: 400, title: 'The cursor does not belong to this list' },
  unauthorized: { status: 401, title: 'A token is needed' },
  'not-found': { status: 404, title: 'There is no such thing' },
  'commit-not-kept': { status: 404, title: 'The commit is not among the kept ones' },
  'method-not-allowed': { status: 405, title: 'The API only reads' },
  'wrong-host': { status: 421, title: 'This name is not served' },
  'broker-unavailable': { status: 503, title: 'The broker does not answer' },
  'not-ready': { status: 503, title: 'Not ready yet' },
  internal: { status: 500, title: 'Something failed here' },
} as const satisfies Record<string, Kind>;
export type ProblemCode = keyof typeof PROBLEMS;

/** A problem with what is special about this case. */
export const problemOf = (
  code: ProblemCode,
  detail: string,
  errors?: NonNullable<HttpProblem['errors']>,
): HttpProblem => ({
  type: `urn:towline:problem:${code}`,
  title: PROBLEMS[code].title,
  status: PROBLEMS[code].status,
  detail,
  ...(errors === undefined ? {} : { errors: [...errors] }),
});
