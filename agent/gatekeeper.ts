/**
 * When a started agent may start runs: once it has its orders. That is when the stream was read to its end, or the hub
 * has answered; a new ledger needs the answer, since only the hub can say what was applied before. Bounded, so that an
 * agent works without hub and broker.
 */
export interface Gatekeeper {
  readonly open: Promise<void>;
  drained(): void;
  answered(): void;
  close(): void;
}

/** Owns a timer: close it. `late` is called when the time was over before anybody came. */
export function makeGatekeeper(
  isNewLedger: boolean,
  { limitMs, late }: { readonly limitMs: number; readonly late: () => Promise<void> },
): Gatekeeper {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout;
  // what cannot be done now is tried again: until then nothing starts
  const wait = (): void => void (timer = setTimeout(() => void late().then(resolve, wait), limitMs));
  wait();
  const admit = (): void => {
    clearTimeout(timer);
    resolve();
  };
  return {
    open: promise,
    drained: () => {
      if (!isNewLedger) admit();
    },
    answered: admit,
    close: () => clearTimeout(timer),
  };
}
