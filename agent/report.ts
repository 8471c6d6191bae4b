/**
 * What the agent says about its placements. Of each only the newest report counts; a settled one is in the ledger
 * before it is sent, and every one is sent until the broker has it.
 */
import type { Log } from '../shared/log.ts';
import type { Report } from '../shared/wire.ts';
import { keyOf, type PlacementEntry } from './ledger/ledger.ts';
import { numbersOf } from './numbers.ts';
import { makePost, type Post, type PostParts } from './post.ts';
import { saysTheSame, statementOf, type View } from './statement.ts';

export interface ReportParts extends PostParts {
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
  /** The entry with its next report, when the view is news; the same entry when it is not, or when there is none. For changes of the ledger. */
  stated(entry: PlacementEntry, view: View | undefined): PlacementEntry;
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

interface Speaking {
  readonly parts: ReportParts;
  readonly post: Post;
  readonly newest: Map<string, Report>;
  readonly nextNumber: () => number;
  revision: number;
}

/** Sends nothing by itself: `resume` does. */
export function makeReports(parts: ReportParts): Reports {
  const { ledger, log } = parts;
  const recorded = [...ledger.entries].flatMap(([key, { report }]) =>
    report === undefined ? [] : [[key, report] as const],
  );
  const newest = new Map(recorded);
  const s: Speaking = {
    parts,
    post: makePost(parts),
    newest,
    nextNumber: numbersOf(ledger, log),
    revision: 0,
  };
  return {
    newest,
    get revision() {
      return s.revision;
    },
    stated: (entry, view) => (view === undefined ? entry : withReport(entry, nextReport(s, entry, view))),
    send: (entry) => {
      if (entry?.report !== undefined && entry.report.seq !== newest.get(keyOf(entry.stack))?.seq)
        take(s, entry.report);
      entry?.records.forEach(s.post.record);
    },
    mention: (entry, view) => {
      const report = nextReport(s, entry, view);
      if (report !== undefined) take(s, report);
    },
    resend: (key) => {
      const report = newest.get(key);
      if (report !== undefined) s.post.report(report);
    },
    resume: () => {
      for (const entry of ledger.entries.values()) {
        if (entry.report !== undefined && entry.acked !== entry.report.seq) take(s, entry.report);
        entry.records.forEach(s.post.record);
      }
    },
    restate: () => restate(s),
  };
}

/** Undefined when it would say what was said before, or when the ledger has no epoch to say it under. */
function nextReport(s: Speaking, entry: PlacementEntry, view: View): Report | undefined {
  const { cluster, agent, ledger, now } = s.parts;
  const { epoch } = ledger.header;
  if (epoch === 0) return undefined;
  const report = statementOf(entry, view, { cluster, agent, epoch, seq: 0, now: now() });
  const known = s.newest.get(keyOf(entry.stack));
  return saysTheSame(known, report) ? undefined : { ...report, seq: s.nextNumber() };
}

function withReport(entry: PlacementEntry, report: Report | undefined): PlacementEntry {
  if (report === undefined) return entry;
  const { acked: _, ...rest } = entry;
  return { ...rest, report };
}

/** Writes may end in another order than they were thought of: a later report is never replaced by an earlier one. */
function take(s: Speaking, report: Report): void {
  const key = keyOf(report.stack);
  const known = s.newest.get(key);
  if (known !== undefined && known.ledger === report.ledger && known.seq > report.seq) return;
  s.newest.set(key, report);
  s.revision += 1;
  s.post.report(report);
}

async function restate(s: Speaking): Promise<void> {
  const { ledger } = s.parts;
  for (const report of [...s.newest.values()]) {
    const value = await ledger.update(report.stack, (entry) => {
      if (entry === undefined) return entry;
      const latest = (entry.report?.seq ?? 0) > report.seq ? entry.report : report;
      return withReport(entry, { ...(latest ?? report), ledger: ledger.header.epoch, seq: s.nextNumber() });
    });
    if (value?.report !== undefined) take(s, value.report);
  }
}
