/** Follows the state stream of one cluster for as long as it is wanted, from the start again whenever it was lost. */
import { setTimeout as wait } from 'node:timers/promises';
import type { LimitFunction } from 'p-limit';
import { DeliverPolicy, type Jets, type StoredMessage } from '../shared/nats.ts';
import { hubSubjects, streams } from '../shared/subjects.ts';
import { whenAborted } from './aborted.ts';
import { followStream, type Following } from './follow.ts';

export interface StateFollow {
  readonly jets: Jets;
  readonly account: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Aborted when everything has to be read again; a new one each time. */
  readonly session: () => AbortSignal;
  /** How many streams may be opened at once. */
  readonly openings: LimitFunction;
  onMessage(message: StoredMessage): void;
  /** Whether the stream was read to its end and is followed since. */
  onRead(complete: boolean): void;
  /** It cannot be followed for the moment. */
  onLost(cause: string): void;
}

/** Pause before a stream that was lost is tried again, ms; up to twice of it, so that a thousand do not come at once. */
const RETRY_MS = 250;

/** Resolves when the signal is aborted. */
export async function followState(follow: StateFollow): Promise<void> {
  while (!follow.signal.aborted) {
    const round = AbortSignal.any([follow.signal, follow.session()]);
    try {
      const cause = await followOnce(follow, round);
      if (!round.aborted) follow.onLost(cause);
    } catch (error) {
      if (!round.aborted) follow.onLost((error as Error).message);
    }
    follow.onRead(false);
    const pause = RETRY_MS * (1 + Math.random());
    if (!round.aborted) await wait(pause, undefined, { signal: round }).catch(() => undefined);
  }
}

async function followOnce(follow: StateFollow, round: AbortSignal): Promise<string> {
  const aborted = whenAborted(round);
  const opening = follow.openings(() => open(follow, round));
  const following = await Promise.race([opening, aborted]);
  if (following === undefined) {
    void opening.then((late) => late?.stop()).catch(() => undefined);
    return 'aborted';
  }
  void following.caughtUp.then((complete) => {
    if (complete && !round.aborted) follow.onRead(true);
  });
  const cause = await Promise.race([following.ended, aborted]);
  await following.stop();
  return cause ?? 'aborted';
}

async function open(follow: StateFollow, round: AbortSignal): Promise<Following | undefined> {
  if (round.aborted) return undefined;
  const wish = {
    stream: streams.state(follow.account),
    filter: hubSubjects.reports(follow.account),
    policy: DeliverPolicy.LastPerSubject,
  };
  return followStream(follow.jets, wish, (message) => {
    if (!round.aborted) follow.onMessage(message);
  });
}
