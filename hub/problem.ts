/** Problems as people read them, and as reasons of what they keep from running. */
import type { Reason } from '../shared/outcome.ts';
import type { Origin, Problem } from './catalog/catalog.ts';
import type { Identity } from './catalog/check.ts';
import type { CodedFault } from './catalog/faults.ts';

/** `repository:path:line` */
export const printOrigin = ({ repository, path, line }: Origin): string => `${repository}:${path}:${line}`;

/** `Stack shop/web`, `Cluster prod-eu`. */
export const printIdentity = ({ kind, namespace, name }: NonNullable<Problem['identity']>): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

/** One line: where, how bad, which document, what and what to do. */
export function printProblem({ severity, code, origin, identity, text }: Problem): string {
  const whose = identity === undefined ? '' : `${printIdentity(identity)}: `;
  return `${printOrigin(origin)}: ${severity} ${code}: ${whose}${text}`;
}

/** The reason of something that a problem keeps from running; its text says where. */
export const reasonOf = ({ code, origin, text }: Problem): Reason => ({
  code,
  text: `${printOrigin(origin)}: ${text}`,
});

/** The same for the reason of a document whose text does not say where. */
export const locatedReason = (origin: Origin, reason: Reason): Reason => ({
  ...reason,
  text: `${printOrigin(origin)}: ${reason.text}`,
});

/** What a reason with its place in front came from. */
export function problemOfReason({
  origin,
  identity,
  reason,
}: Required<Pick<Problem, 'origin' | 'identity'>> & { readonly reason: Reason }): Problem {
  const place = `${printOrigin(origin)}: `;
  const text = reason.text.startsWith(place) ? reason.text.slice(place.length) : reason.text;
  return { severity: 'error', code: reason.code, origin, identity, text };
}

export interface Whereabouts {
  readonly repository: string;
  readonly path: string;
  readonly identity?: Identity;
}

/** One problem a fault. */
export const problemsOf = (where: Whereabouts, faults: readonly CodedFault[]): Problem[] =>
  faults.map((fault) => problemAt(where, fault));

/** A problem of a document, as an error. */
export function problemAt({ repository, path, identity }: Whereabouts, fault: CodedFault): Problem {
  const { code, line, text } = fault;
  return {
    severity: 'error',
    code,
    origin: { repository, path, line },
    ...(identity === undefined ? {} : { identity }),
    text,
  };
}

/** Several faults of one document as one problem, at the line of the first. */
export function joinedProblem(where: Whereabouts, faults: readonly [CodedFault, ...CodedFault[]]): Problem {
  const [first, ...others] = faults;
  const text = [first.text, ...others.map((fault) => `line ${fault.line}: ${fault.text}`)].join('; ');
  const mistake = faults.find(({ code }) => code === 'Invalid') ?? first;
  return problemAt(where, { line: first.line, code: mistake.code, text });
}
