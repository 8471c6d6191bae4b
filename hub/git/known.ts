/** What is known about a repository, and how a look at it changes that. Pure. */
import type { Failure } from './failure.ts';
import { refusalAfter, type Found, type Last } from './look.ts';
import { nextPoll } from './schedule.ts';
import type { RepositorySettings, SourceState, SourceView, Tree } from './source.ts';

export interface Known extends Pick<SourceView, 'moved' | 'mended'> {
  readonly state: SourceState;
  readonly since: number;
  readonly checkedAt: number;
  readonly message?: string;
  readonly tree?: Tree;
  /** What the ref pointed at when the tree was read. */
  readonly tip?: string;
  /** What need not be tried again yet. */
  readonly refusal?: { readonly tip: string; readonly failure: Failure; readonly until: number };
  readonly failures: number;
  readonly dueAt: number;
}

/** Nothing was asked yet. */
export const UNKNOWN: Known = { state: 'Hydrating', since: 0, checkedAt: 0, failures: 0, dueAt: 0 };

/** What the next look has to know. `accepted`: the commit in force before the hub started. */
export function lastOf(
  { tree, tip, refusal }: Known,
  { accepted, now }: { readonly accepted: string | undefined; readonly now: number },
): Last {
  return {
    tip: tree === undefined ? undefined : tip,
    ref: tree?.ref,
    commit: tree?.commit.id ?? accepted,
    ...(refusal !== undefined && now < refusal.until ? { refusal } : {}),
  };
}

/** Damage was met, and the mirror is made anew. */
export const corrupted = (known: Known, now: number, message: string): Known => ({
  ...known,
  state: 'Corrupt',
  since: known.state === 'Corrupt' ? known.since : now,
  checkedAt: now,
  message: `${message}; the repository is read anew`,
});

export interface Settling {
  readonly now: number;
  readonly settings: Pick<RepositorySettings, 'name' | 'intervalMs'>;
  /** For the jitter of a back-off. */
  readonly random: number;
}

/** After a look. */
export function settled(known: Known, found: Found, { now, settings, random }: Settling): Known {
  const { name, intervalMs } = settings;
  const good = found.kind !== 'failed';
  const state = good ? 'Ready' : found.state;
  const failures = good ? 0 : known.failures + 1;
  const patience = !good && found.retryAfterMs !== undefined ? { retryAfterMs: found.retryAfterMs } : {};
  const refusal = refusalOf(known, found, now);
  return {
    ...treeAfter(known, found),
    ...(good ? {} : { message: found.message }),
    ...movedAfter(known, found, now),
    ...mendedAfter(known, good, now),
    ...(refusal === undefined ? {} : { refusal }),
    state,
    since: state === known.state ? known.since : now,
    checkedAt: now,
    failures,
    dueAt: nextPoll(now, { name, intervalMs, failures, random, ...patience }),
  };
}

/** What was answered from memory does not last longer for it. */
function refusalOf({ refusal }: Known, found: Found, now: number): Known['refusal'] {
  const after = refusalAfter(found, now);
  return after !== undefined && refusal?.tip === after.tip && now < refusal.until ? refusal : after;
}

function treeAfter({ tree, tip }: Known, found: Found): Pick<Known, 'tree' | 'tip'> {
  if (found.kind === 'opened') return { tree: found.tree, tip: found.tip };
  if (found.kind === 'failed' && found.standby !== undefined) return { tree: found.standby };
  return { ...(tree === undefined ? {} : { tree }), ...(tip === undefined ? {} : { tip }) };
}

function movedAfter({ moved }: Known, found: Found, now: number): Pick<Known, 'moved'> {
  if (found.kind === 'unchanged' || found.move === undefined) return moved === undefined ? {} : { moved };
  const { from, to, descends } = found.move;
  const again = moved?.from === from && moved.to === to;
  return { moved: again ? moved : { from, to, descends, at: now } };
}

/** `corrupted` came before, in the same look or an earlier one. */
function mendedAfter({ state, message, mended }: Known, good: boolean, now: number): Pick<Known, 'mended'> {
  if (good && state === 'Corrupt') return { mended: { at: now, damage: message ?? '' } };
  return mended === undefined ? {} : { mended };
}
