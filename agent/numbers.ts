/** Numbers of reports: none is used twice by one ledger, in this life of the agent or an earlier one. */
import type { Log } from '../shared/log.ts';
import type { Ledger } from './ledger/ledger.ts';

/** Numbers that are taken from the ledger at a time; one write for so many reports. */
const RESERVE = 1_000;

/** The next number at each call. */
export function numbersOf(ledger: Ledger, log: Log): () => number {
  let next = ledger.header.reserved;
  let asked = next;
  const reserve = (): void => {
    asked = next + RESERVE;
    ledger
      .updateHeader((header) => ({ ...header, reserved: Math.max(header.reserved, asked) }))
      .catch((error: unknown) => log.error({ err: error }, 'report numbers could not be reserved'));
  };
  reserve();
  return () => {
    if (asked - next < RESERVE / 2) reserve();
    next += 1;
    return next - 1;
  };
}
