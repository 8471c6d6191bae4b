/** What the hub's answer to a hello changes in the ledger. */
import type { HelloAnswer } from '../shared/wire.ts';
import { seeded } from './ledger/entry.ts';
import { keyOf, type Ledger, type PlacementEntry } from './ledger/ledger.ts';
import type { Reports } from './report.ts';

export interface GreetParts {
  readonly ledger: Ledger;
  readonly reports: Reports;
  readonly now: () => number;
}

/** Applies an answer. A new ledger takes its epoch and what the board knows; an old one only goes above the board. */
export async function applyAnswer(parts: GreetParts, answer: HelloAnswer): Promise<void> {
  const { epoch } = parts.ledger.header;
  if (epoch === 0) {
    await takeSeed(parts, answer.seed ?? []);
    await takeEpoch(parts, answer.epoch);
  } else if (answer.epoch > epoch) {
    await takeEpoch(parts, answer.epoch);
    await parts.reports.restate();
  }
  for (const stack of answer.resend) parts.reports.resend(keyOf(stack));
}

/** Above everything that the hub has seen, and above every ledger that was made before on this clock. */
export async function takeEpoch({ ledger, now }: GreetParts, seen: number): Promise<void> {
  await ledger.updateHeader((header) => ({
    ...header,
    epoch: Math.max(header.epoch, seen + 1, header.epoch === 0 ? now() : 0),
  }));
}

async function takeSeed({ ledger }: GreetParts, seed: NonNullable<HelloAnswer['seed']>): Promise<void> {
  for (const known of seed)
    await ledger.update(known.stack, (entry) => (isUntouched(entry) ? seeded(entry, known) : entry));
}

/** What happened here counts more than what the board remembers. */
const isUntouched = (entry: PlacementEntry | undefined): boolean =>
  entry?.last === undefined && entry?.lastSuccess === undefined && entry?.running === undefined;
