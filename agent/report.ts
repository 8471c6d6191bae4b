/**
 * Outgoing reports and run records. Of each placement only the newest report counts; it is in the ledger before it is
 * sent when it is settled, and is sent until the broker has it.
 */
import type { Log } from '../shared/log.ts';
import { publishExpecting, type JetStreamClient } from '../shared/nats.ts';
import { SETTLED } from '../shared/outcome.ts';
import { agentSubjects } from '../shared/subjects.ts';
import { encode, type Report, type RunRecord } from '../shared/wire.ts';
import { recordAcked } from './ledger/entry.ts';
import { keyOf, type Ledger, type PlacementEntry } from './ledger/ledger.ts';
import type { Outbox } from './outbox.ts';
import { saysTheSame, statementOf, type View } from './statement.ts';

export interface ReportParts {
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  /** Resolves once the broker was reached for the first time. */
  readonly js: () => Promise<JetStreamClient>;
  readonly cluster: string;
  readonly agent: string;
  readonly now: () => number;
  readonly log: Log;
}

export interface Reports {
  /** The newest report of each placement, recorded or not. */
  readonly newest: ReadonlyMap<string, Report>;
  /** Goes up with each report: what is derived from them can be kept until then. */
  readonly revision: number;
  /** The entry with its next report, when the view is news; the same entry when it is not. For changes of the ledger. */
  stated(entry: PlacementEntry, view: View): PlacementEntry;
  /** Sends the report and the run records of an entry that is recorded. */
  send(entry: PlacementEntry | undefined): void;
  /** Says a view on the way: sent, and forgotten when the agent ends. */
  mention(entry: PlacementEntry, view: View): void;
  /** Sends the newest report of a placement again. */
  resend(key: string): void;
  /** At start: everything that the broker has not acknowledged. */
  resume(): void;
  /** After the epoch was raised: every newest report is said again under it. */
  restate(): Promise<void>;
}

/** Report numbers that are taken from the ledger at a time; one write for so many reports. */
const RESERVE = 1_000;

/** A subject that somebody else keeps writing to is left alone until the next try. */
const MAX_CONFLICTS = 3;

export function makeReports(parts: ReportParts): Reports {
  const { ledger, outbox, log } = parts;
  const newest = new Map<string, Report>();
  const sequences = new Map<string, number>();
  const nextNumber = numbersOf(ledger, log);
  let revision = 0;
  for (const [key, entry] of ledger.entries) if (entry.report !== undefined) newest.set(key, entry.report);

  const say = (entry: PlacementEntry, view: View): Report | undefined => {
    if (ledger.header.epoch === 0) return undefined;
    const voice = {
      cluster: parts.cluster,
      agent: parts.agent,
      epoch: ledger.header.epoch,
      now: parts.now(),
    };
    const report = statementOf(entry, view, { ...voice, seq: 0 });
    return saysTheSame(newest.get(keyOf(entry.stack)), report) ? undefined : { ...report, seq: nextNumber() };
  };
  const publish = async (report: Report): Promise<void> => {
    const subject = agentSubjects.report(report.stack);
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const published = await publishExpecting(await parts.js(), subject, {
        data: encode(report),
        expect: { lastSubjectSequence: sequences.get(subject) ?? 0 },
      });
      if (published.kind === 'stored') {
        sequences.set(subject, published.sequence);
        return acknowledge(report);
      }
      if (published.last === undefined) break;
      sequences.set(subject, published.last);
    }
    throw new Error(`somebody else writes to ${subject}`);
  };
  const acknowledge = async (report: Report): Promise<void> => {
    if (!SETTLED.has(report.phase)) return;
    await ledger.update(report.stack, (entry) =>
      entry?.report?.seq === report.seq ? { ...entry, acked: report.seq } : entry,
    );
  };
  const take = (report: Report): void => {
    const key = keyOf(report.stack);
    const known = newest.get(key);
    if (known !== undefined && known.ledger === report.ledger && known.seq > report.seq) return;
    newest.set(key, report);
    revision += 1;
    outbox.put(`report ${key}`, () => publish(report));
  };
  const sendRecord = (record: RunRecord): void =>
    outbox.put(`run ${record.runId}`, async () => {
      const subject = agentSubjects.run(record.stack);
      const js = await parts.js();
      await js.publish(subject, encode(record), { msgID: record.runId });
      await ledger.update(record.stack, (entry) => entry && recordAcked(entry, record.runId));
    });
  const isUnsent = (entry: PlacementEntry): boolean =>
    entry.report !== undefined && entry.acked !== entry.report.seq;

  return {
    newest,
    get revision() {
      return revision;
    },
    stated: (entry, view) => {
      const report = say(entry, view);
      if (report === undefined) return entry;
      const { acked: _, ...rest } = entry;
      return { ...rest, report };
    },
    send: (entry) => {
      if (entry?.report !== undefined && newest.get(keyOf(entry.stack))?.seq !== entry.report.seq)
        take(entry.report);
      for (const record of entry?.records ?? []) sendRecord(record);
    },
    mention: (entry, view) => {
      const report = say(entry, view);
      if (report !== undefined) take(report);
    },
    resend: (key) => {
      const report = newest.get(key);
      if (report !== undefined) outbox.put(`report ${key}`, () => publish(report));
    },
    resume: () => {
      for (const entry of ledger.entries.values()) {
        if (entry.report !== undefined && isUnsent(entry)) take(entry.report);
        entry.records.forEach(sendRecord);
      }
    },
    restate: async () => {
      for (const report of [...newest.values()]) {
        const again = (): Report => ({ ...report, ledger: ledger.header.epoch, seq: nextNumber() });
        const value = await ledger.update(report.stack, (entry) => entry && restated(entry, again()));
        if (value?.report !== undefined) take(value.report);
      }
    },
  };
}

function restated(entry: PlacementEntry, report: Report): PlacementEntry {
  const { acked: _, ...rest } = entry;
  return { ...rest, report };
}

/** Numbers that no report of this ledger had before, in this life of the agent or an earlier one. */
function numbersOf(ledger: Ledger, log: Log): () => number {
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
