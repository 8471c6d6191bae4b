/** What is under way at this moment, one piece of work a placement. */
import type { RunPolicy } from '../shared/wire.ts';
import { slotsOf, type Active } from './admit.ts';
import { makeSlots, type Slots } from './slots.ts';

export interface Work {
  readonly active: Active;
  readonly gen: number;
  /** Ends a preparation. */
  readonly giveUp: AbortController;
  /** Stops a run. */
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

export interface Task {
  readonly key: string;
  readonly gen: number;
  readonly policy: Pick<RunPolicy, 'weight' | 'concurrencyGroup'>;
  readonly work: (control: { giveUp: AbortSignal; stop: AbortSignal }) => Promise<void>;
}

export interface Works {
  readonly slots: Slots;
  readonly active: readonly Active[];
  get(key: string): Work | undefined;
  /** Starts a task now; the placement has none. */
  start(task: Task): void;
  giveUpAll(): void;
  stopAll(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export interface WorksParts {
  readonly slots: number;
  /** A task broke off without a result. */
  readonly failed: (task: Task, error: unknown) => void;
  /** A task is over, and its place is free. */
  readonly over: () => void;
}

/** Nothing is under way at first. */
export function makeWorks(parts: WorksParts): Works {
  const works = new Map<string, Work>();
  const slots = makeSlots(parts.slots);
  const all = (): readonly Work[] => [...works.values()];
  return {
    slots,
    get active() {
      return all().map((work) => work.active);
    },
    get: (key) => works.get(key),
    start: (task) => {
      const [giveUp, stop] = [new AbortController(), new AbortController()];
      const done = task
        .work({ giveUp: giveUp.signal, stop: stop.signal })
        .catch((error: unknown) => parts.failed(task, error))
        .finally(() => {
          works.delete(task.key);
          parts.over();
        });
      const { weight, concurrencyGroup: group } = task.policy;
      works.set(task.key, { active: { key: task.key, weight, group }, gen: task.gen, giveUp, stop, done });
      slots.occupy(slotsOf(weight, slots.count), done);
    },
    giveUpAll: () => all().forEach((work) => work.giveUp.abort()),
    stopAll: () => all().forEach((work) => work.stop.abort()),
    idle: async () => {
      while (works.size > 0) await Promise.all(all().map((work) => work.done));
    },
  };
}
