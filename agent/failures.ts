/** How a run ended: exit code, events and our own request → result, class and a reason for people. */
import type { FailureClass, Reason } from '../shared/outcome.ts';
import type { Outcome } from './pulumi/events.ts';
import { undeclaredIn, type Scene } from './undeclared.ts';

/** Why this agent ended a run itself. */
export type StopCause = 'timeout' | 'cancelled';

/** Everything that the verdict is made of. */
export interface Ending {
  /** Exit code of the CLI; absent when nobody could write it down. */
  readonly exit?: number;
  readonly outcome: Outcome;
  /** Last lines of output, redacted. */
  readonly tail: readonly string[];
  /** Set when this agent stopped it. */
  readonly stopped?: { readonly cause: StopCause };
  readonly timeoutMs: number;
  /** What lay around its files, where that is known. */
  readonly scene?: Scene | undefined;
}

export type Verdict =
  | { readonly result: 'succeeded'; readonly reason: Reason }
  | { readonly result: 'failed'; readonly failure: FailureClass; readonly reason: Reason };

/** Characters of an error that go into a reason. */
const REASON_CHARACTERS = 500;

/** Success is an exit code of 0 and a summary that says so; everything else is a failure of some class. */
export function judgeRun(ending: Ending): Verdict {
  if (ending.exit === 0 && ending.outcome.summary?.result === 'succeeded')
    return { result: 'succeeded', reason: { code: 'RunSucceeded', text: successText(ending.outcome) } };
  const failure = classify(ending);
  const undeclared = MAY_LACK.has(failure) ? undeclaredIn(wordsOf(ending), ending.scene) : undefined;
  if (undeclared !== undefined)
    return {
      result: 'failed',
      failure: 'Config',
      reason: { code: 'UndeclaredInput', text: cut(undeclared) },
    };
  return { result: 'failed', failure, reason: { code: codeOf(failure), text: textOf(failure, ending) } };
}

/** Ends that a file may have led to which was not declared. */
const MAY_LACK: ReadonlySet<FailureClass> = new Set(['Config', 'Program', 'Provider']);

const wordsOf = ({ outcome, tail }: Ending): string[] => [...outcome.errors.map(({ text }) => text), ...tail];

const codeOf = (failure: FailureClass): Reason['code'] => (failure === 'Locked' ? 'Locked' : 'RunFailed');

function successText(outcome: Outcome): string {
  const { same, ...changed } = outcome.changes;
  const parts = Object.entries(changed).filter(([, count]) => count > 0);
  return parts.length === 0
    ? `nothing to change, ${same} unchanged`
    : `${parts.map(([kind, count]) => `${count} ${kind}`).join(', ')}, ${same} unchanged`;
}

/** Signals give 128 + n; below 0.35 s of life the CLI dies of SIGINT and SIGTERM as well. */
export const BY_SIGNAL = 128;
/** 2: settings or invocation, 3: no access token, 6: no such stack. */
const CONFIG_EXITS: ReadonlySet<number> = new Set([2, 3, 6]);
/** The second SIGINT. */
export const CANCELLED_EXIT = 8;

const STOPPED: Readonly<Record<StopCause, FailureClass>> = { timeout: 'Timeout', cancelled: 'Cancelled' };

function classify(ending: Ending): FailureClass {
  const { exit, outcome, stopped } = ending;
  if (stopped !== undefined) return STOPPED[stopped.cause];
  // exit 0 without a summary: nobody knows what was done, so it counts as cut off
  if (exit === undefined || exit === 0 || exit >= BY_SIGNAL) return 'Lost';
  if (CONFIG_EXITS.has(exit)) return 'Config';
  // somebody else stopped it: that says as little about its inputs as a kill
  if (wasInterrupted(ending)) return 'Lost';
  return classifyText(errorsOf(ending).join('\n')) ?? (outcome.failedResources > 0 ? 'Provider' : 'Program');
}

/** The CLI's own words after the first SIGINT. */
const INTERRUPTED = /^(error: )?update cancell?ed$/m;

const wasInterrupted = (ending: Ending): boolean =>
  ending.exit === CANCELLED_EXIT || INTERRUPTED.test(errorsOf(ending).join('\n'));

/** The first that matches decides. */
const TEXTS: readonly (readonly [RegExp, FailureClass])[] = [
  [/the stack is currently locked by/, 'Locked'],
  [
    /\b429\b|too many requests|rate ?limit|throttl(ed|ing)|SlowDown|RequestLimitExceeded|quota exceeded/i,
    'RateLimited',
  ],
  [
    /incorrect passphrase|passphrase must be set|PULUMI_CONFIG_PASSPHRASE|message authentication failed/,
    'Config',
  ],
  [/missing (required )?configuration|must be of type|must be encrypted as it's secret/i, 'Config'],
  [/no Pulumi(\.yaml| project) file|no Pulumi\.yaml|failed to load project|no stack named/i, 'Config'],
  [
    /ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|EAI_AGAIN|no such host|connection refused|i\/o timeout/,
    'Provider',
  ],
  [
    /unable to (open|access|check) bucket|could not (list|get) (stacks|bucket)|read \.pulumi|blob \(key/i,
    'Provider',
  ],
];

/** The class that an error's own words give, if any. */
export function classifyText(text: string): FailureClass | undefined {
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1];
}

/** Errors by events; where Pulumi failed before its first event, what it printed. */
function errorsOf(ending: Ending): readonly string[] {
  const errors = ending.outcome.errors.map(({ text }) => text);
  return errors.length > 0 ? errors : ending.tail.filter((line) => line.trim() !== '');
}

function textOf(failure: FailureClass, ending: Ending): string {
  switch (failure) {
    case 'Timeout':
      return `stopped after its time limit of ${Math.round(ending.timeoutMs / 1000)} s`;
    case 'Lost':
      return lostText(ending);
    case 'Cancelled':
      return 'stopped on request';
    case 'Config':
    case 'Program':
    case 'Provider':
    case 'RateLimited':
    case 'Locked':
    case 'Hung':
      return firstError(ending);
  }
}

function lostText(ending: Ending): string {
  const { exit } = ending;
  if (exit === 0) return 'Pulumi ended with code 0 but no summary: what it did is unknown';
  if (exit === undefined) return 'cut off';
  if (exit < BY_SIGNAL && wasInterrupted(ending)) return 'stopped by a signal from outside';
  return `cut off (exit code ${exit}${exit === 137 ? ': killed, often for memory' : ''})`;
}

function firstError(ending: Ending): string {
  const [first] = ending.outcome.errors;
  if (first !== undefined) {
    const line = tellingLine(first.text);
    return cut(first.urn === undefined ? line : `${first.urn.split('::').slice(2).join('::')}: ${line}`);
  }
  const lines = ending.tail.filter((line) => line.trim() !== '');
  const marked = lines.find((line) => line.startsWith('error:'));
  return cut((marked ?? lines.at(-1) ?? `exit code ${ending.exit}`).replace(/^error: /, ''));
}

/** A language host says that the program failed and names the error below it: what announces something tells nothing. */
function tellingLine(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.find((line) => !line.endsWith(':')) ?? lines[0] ?? '';
}

const cut = (text: string): string =>
  text.length <= REASON_CHARACTERS ? text : `${text.slice(0, REASON_CHARACTERS)}…`;
