/** What happened lately, kept for readers that were away for a moment. */
import type { PlannedCommit } from '../decision.ts';
import type { SourceState, SourceView } from '../git/source.ts';
import type { Liveness } from '../liveness.ts';
import type { Row } from '../view.ts';

/** Says that something is another one now; the lists say what it is. Times in ms. */
export type HubEvent =
  | {
      readonly kind: 'placement';
      readonly cluster: string;
      readonly namespace: string;
      readonly name: string;
      readonly phase: Row['phase'];
      readonly reason?: string;
      readonly gen?: number;
      readonly commit?: string;
      readonly runId?: string;
      readonly at: number;
    }
  | {
      readonly kind: 'cluster';
      readonly cluster: string;
      readonly state: Liveness['state'];
      readonly at: number;
    }
  | {
      readonly kind: 'commit';
      readonly repository: string;
      readonly ref: string;
      readonly commit: string;
      readonly subject: string;
      readonly orders: number;
      readonly at: number;
    }
  | {
      readonly kind: 'source';
      readonly repository: string;
      readonly state: SourceState;
      readonly at: number;
    };

/** Of a row after a report or an order. */
export function placementEvent({ cluster, stack, phase, report, order }: Row, at: number): HubEvent {
  const gen = report?.gen ?? order?.gen;
  const commit = report?.commit ?? order?.source.commit;
  return {
    kind: 'placement',
    cluster,
    namespace: stack.namespace,
    name: stack.name,
    phase,
    ...(report === undefined ? {} : { reason: report.reason.code }),
    ...(gen === undefined ? {} : { gen }),
    ...(commit === undefined ? {} : { commit }),
    ...(report?.runId === undefined ? {} : { runId: report.runId }),
    at,
  };
}

/** Of a pass. */
export const commitEvent = ({ repository, ref, commit, orders, plannedAt }: PlannedCommit): HubEvent => ({
  kind: 'commit',
  repository,
  ref,
  commit: commit.id,
  subject: commit.subject,
  orders,
  at: plannedAt,
});

/** Of a source whose state is another one. */
export const sourceEvent = ({ name, state, since }: SourceView): HubEvent => ({
  kind: 'source',
  repository: name,
  state,
  at: since,
});

export interface StoredEvent {
  /** `start.number`: numbers of another start of the hub mean nothing. */
  readonly id: string;
  readonly event: HubEvent;
}

export interface EventLog {
  publish(event: HubEvent): void;
  /** The id of the newest event. */
  readonly last: string;
  /** Events after an id; undefined when some of them, or the id itself, are not known any more. */
  after(id: string): readonly StoredEvent[] | undefined;
  /** Resolves at the next event. */
  next(): Promise<void>;
}

/** Events that are kept: some minutes of a large fleet at work. */
const CAPACITY = 10_000;

/** `start`: differs at each start of the hub. */
export function makeEventLog(start: string, capacity = CAPACITY): EventLog {
  const ring: StoredEvent[] = [];
  let count = 0;
  let next = Promise.withResolvers<void>();
  const idOf = (number: number): string => `${start}.${number}`;
  return {
    publish: (event) => {
      count += 1;
      ring[count % capacity] = { id: idOf(count), event };
      const waiting = next;
      next = Promise.withResolvers();
      waiting.resolve();
    },
    get last() {
      return idOf(count);
    },
    after: (id) => {
      const number = numberOf(id, start);
      if (number === undefined || number > count || number < count - capacity) return undefined;
      return Array.from({ length: count - number }, (_, n) => ring[(number + 1 + n) % capacity]!);
    },
    next: () => next.promise,
  };
}

function numberOf(id: string, start: string): number | undefined {
  const digits = id.startsWith(`${start}.`) ? id.slice(start.length + 1) : '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}
