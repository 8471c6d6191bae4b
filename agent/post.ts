/** Reports and run records to the broker, and what its acknowledgement changes in the ledger. */
import { publishExpecting, type JetStreamClient } from '../shared/nats.ts';
import { SETTLED } from '../shared/outcome.ts';
import { agentSubjects } from '../shared/subjects.ts';
import { encode, type Report, type RunRecord } from '../shared/wire.ts';
import { recordAcked } from './ledger/entry.ts';
import { keyOf, type Ledger } from './ledger/ledger.ts';
import type { Outbox } from './outbox.ts';

export interface PostParts {
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  /** Resolves once the broker was reached for the first time. */
  readonly js: () => Promise<JetStreamClient>;
}

export interface Post {
  /** Replaces the report of the placement that waits. */
  report(report: Report): void;
  /** Every look at its placement finds a record until it is acknowledged: it is sent once all the same. */
  record(record: RunRecord): void;
}

/** A subject that somebody else keeps writing to is left alone until the next try. */
const MAX_CONFLICTS = 3;

/** Everything is sent until it is acknowledged. */
export function makePost(parts: PostParts): Post {
  const sequences = new Map<string, number>();
  return {
    report: (report) =>
      parts.outbox.put(`report ${keyOf(report.stack)}`, async () => {
        await publishReport(await parts.js(), report, sequences);
        await acknowledge(parts.ledger, report);
      }),
    record: (record) => {
      const key = `run ${record.runId}`;
      if (parts.outbox.has(key)) return;
      parts.outbox.put(key, async () => {
        const js = await parts.js();
        await js.publish(agentSubjects.run(record.stack), encode(record), { msgID: record.runId });
        await parts.ledger.update(record.stack, (entry) => entry && recordAcked(entry, record.runId));
      });
    },
  };
}

/** Compare-and-set: the sequence to build on comes from the last acknowledgement, or from the refusal. */
async function publishReport(
  js: JetStreamClient,
  report: Report,
  sequences: Map<string, number>,
): Promise<void> {
  const subject = agentSubjects.report(report.stack);
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
    const expect = { lastSubjectSequence: sequences.get(subject) ?? 0 };
    const published = await publishExpecting(js, subject, { data: encode(report), expect });
    if (published.kind === 'stored') {
      sequences.set(subject, published.sequence);
      return;
    }
    if (published.last === undefined) break;
    sequences.set(subject, published.last);
  }
  throw new Error(`somebody else writes to ${subject}`);
}

/** Only a settled report is worth a write: the others are sent again after a restart. */
async function acknowledge(ledger: Ledger, report: Report): Promise<void> {
  if (!SETTLED.has(report.phase)) return;
  await ledger.update(report.stack, (entry) =>
    entry?.report?.seq === report.seq ? { ...entry, acked: report.seq } : entry,
  );
}
