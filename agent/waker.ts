/** Runs a pass whenever it is woken, one at a time, and once more when it was woken meanwhile. */

export interface Waker {
  wake(): void;
  /** Wakes at a time, in milliseconds since the epoch; of several times the earliest counts. */
  at(time: number, now: number): void;
  close(): void;
}

export interface WakerParts {
  readonly pass: () => Promise<void>;
  /** The pass threw; it is repeated after {@link AGAIN_MS}. */
  readonly failed: (error: unknown) => void;
}

const AGAIN_MS = 5_000;

/** The longest pause that a timer of Node can hold. */
const LONGEST_MS = 2 ** 31 - 1;

/** Own timer: close it. */
export function makeWaker(parts: WakerParts): Waker {
  let woken = false;
  let passing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let due = Infinity;

  const disarm = (): void => {
    clearTimeout(timer);
    due = Infinity;
  };
  const at = (time: number, now: number): void => {
    if (closed || time >= due) return;
    clearTimeout(timer);
    due = time;
    timer = setTimeout(wake, Math.min(LONGEST_MS, Math.max(0, time - now)));
  };
  const wake = (): void => {
    woken = true;
    if (!passing && !closed) void run();
  };
  const run = async (): Promise<void> => {
    passing = true;
    while (woken && !closed) {
      woken = false;
      disarm();
      try {
        await parts.pass();
      } catch (error) {
        parts.failed(error);
        at(AGAIN_MS, 0);
      }
    }
    passing = false;
  };
  return {
    wake,
    at,
    close: () => {
      closed = true;
      disarm();
    },
  };
}
