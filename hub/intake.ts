/** What of a message from an agent reaches the board: nothing that is malformed, foreign or holds a known secret. Pure. */
import { stackTokens } from '../shared/subjects.ts';
import { beatSchema, decode, reportSchema, type Beat, type Report } from '../shared/wire.ts';
import type { StoredMessage } from '../shared/nats.ts';
import { clean } from './shapes.ts';

/**
 * `malformed`: not a message of ours, such as an empty body or a foreign answer. `unknownVersion`: of a newer agent.
 * `foreign`: names another cluster or placement than its subject. `unknownAccount`: of no known cluster.
 */
export const DROP_CAUSES = ['malformed', 'unknownVersion', 'foreign', 'unknownAccount'] as const;
export type DropCause = (typeof DROP_CAUSES)[number];

export interface Dropped {
  readonly cause: DropCause;
  readonly subject: string;
  /** What is wrong, without the message's content. */
  readonly error: string;
}

export type Intake<T> =
  { readonly kind: 'taken'; readonly message: T } | ({ readonly kind: 'dropped' } & Dropped);

type Raw = Pick<StoredMessage, 'subject' | 'data'>;

const drop = ({ subject }: Raw, cause: DropCause, error: string): Intake<never> => ({
  kind: 'dropped',
  cause,
  subject,
  error,
});

/** Reads a report of a cluster. */
export function readReport(raw: Raw, cluster: string): Intake<Report> {
  const read = decode(reportSchema, raw.data);
  if (read.kind === 'unknownVersion') return drop(raw, 'unknownVersion', versionText(read.version));
  if (read.kind === 'malformed') return drop(raw, 'malformed', read.error);
  const report = read.message;
  if (report.cluster !== cluster) return drop(raw, 'foreign', `it names cluster ${report.cluster}`);
  if (!raw.subject.endsWith(`.report.${stackTokens(report.stack)}`))
    return drop(raw, 'foreign', `it names ${report.stack.namespace}/${report.stack.name}`);
  return { kind: 'taken', message: cleanReport(report) };
}

const versionText = (version: unknown): string =>
  typeof version === 'number' ? `version ${version}` : 'without a version';

/** The last success goes back to agents as it is: it holds ids and the artifact's key, and no text. */
function cleanReport({ lastSuccess, ...shown }: Report): Report {
  return { ...clean(shown), ...(lastSuccess === undefined ? {} : { lastSuccess }) };
}

/** Reads a beat; `cluster` is undefined when no known one has the account. */
export function readBeat(raw: Raw, cluster: string | undefined): Intake<Beat> {
  if (cluster === undefined) return drop(raw, 'unknownAccount', 'no known cluster has this account');
  const read = decode(beatSchema, raw.data);
  if (read.kind === 'unknownVersion') return drop(raw, 'unknownVersion', versionText(read.version));
  if (read.kind === 'malformed') return drop(raw, 'malformed', read.error);
  return { kind: 'taken', message: clean(read.message) };
}
