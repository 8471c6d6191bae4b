/** A conductor on a real file ledger with a scripted executor; what it reports is kept instead of sent. */
import type { TestContext } from 'node:test';
import type { Surroundings } from '../../agent/decide.ts';
import type { Executor } from '../../agent/executor.ts';
import { takeIn, type Verdict } from '../../agent/intake.ts';
import { openFileLedger } from '../../agent/ledger/file.ts';
import type { Ledger, PlacementEntry } from '../../agent/ledger/ledger.ts';
import type { Outbox } from '../../agent/outbox.ts';
import { makeConductor, type Conductor } from '../../agent/reconcile.ts';
import { makeReports, type Reports } from '../../agent/report.ts';
import { atNothing } from '../../agent/steps.ts';
import { makeLog } from '../../shared/log.ts';
import { hubSubjects } from '../../shared/subjects.ts';
import { encode, type ClusterPolicy, type Order, type Report, WIRE_VERSION } from '../../shared/wire.ts';
import { atEnd } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { CLUSTER, INCARNATION } from './samples.ts';

export interface Rig {
  readonly ledger: Ledger;
  readonly reports: Reports;
  readonly conductor: Conductor;
  /** Every report in the order in which it was said: `key phase code`. */
  readonly said: string[];
  readonly verdicts: Verdict[];
  take(order: Order): Promise<void>;
  takeBytes(subject: string, data: Uint8Array): Promise<void>;
  policy(gen: number, policy: ClusterPolicy): Promise<void>;
  entry(key: string): PlacementEntry | undefined;
  newest(key: string): Report | undefined;
  /** Waits until the newest report of a placement has this phase. */
  phase(key: string, phase: Report['phase']): Promise<Report>;
  /** The agent is gone: nothing of it writes any more. */
  die(): Promise<void>;
}

export interface RigOptions {
  readonly executor: Executor;
  /** Default: a new one. */
  readonly folder?: string;
  /** Resolves when runs may start; default: at once. */
  readonly open?: Promise<void>;
  readonly incarnation?: string;
  readonly maxSlots?: number;
  readonly now?: () => number;
}

const silent = makeLog({ name: 'test', level: 'silent' });

export async function makeRig(context: TestContext, options: RigOptions): Promise<Rig> {
  const folder = options.folder ?? (await tempFolder(context, 'agent'));
  const incarnation = options.incarnation ?? INCARNATION;
  const ledger = await openFileLedger({ folder, incarnation, onDamage: () => undefined });
  await ledger.updateHeader((header) => ({ ...header, epoch: Math.max(1, header.epoch) }));
  const said: string[] = [];
  const now = options.now ?? (() => Date.now());
  const around = (): Surroundings => ({
    now: now(),
    incarnation,
    policy: ledger.header.clusterOrder?.policy,
  });
  const outbox = outboxInto(said, (key) => reports.newest.get(key));
  const base = { ledger, log: silent, now };
  const reports = makeReports({ ...base, outbox, js: never, cluster: CLUSTER, agent: 'test' });
  let runs = 0;
  const conductor = makeConductor({
    ...base,
    reports,
    executor: options.executor,
    transcripts: { open: () => ({ write: () => undefined, end: () => undefined }) },
    incarnation,
    newRunId: () => `run-${Date.now().toString(36)}-${(runs += 1)}`,
    ended: () => undefined,
    at: atNothing,
    around,
    maxSlots: options.maxSlots ?? Infinity,
  });
  const verdicts: Verdict[] = [];
  const count = (verdict: Verdict): void => void verdicts.push(verdict);
  const intake = { ...base, reports, cluster: CLUSTER, around, wake: conductor.wake, count };
  const takeBytes = (subject: string, data: Uint8Array): Promise<void> => takeIn(intake, subject, data);
  const die = async (): Promise<void> => {
    conductor.quiesce();
    conductor.close();
    await ledger.close();
  };
  atEnd(context, die);
  conductor.start(options.open ?? Promise.resolve());
  return {
    ledger,
    reports,
    conductor,
    said,
    verdicts,
    take: (order) => takeBytes(hubSubjects.order(CLUSTER, order.stack), encode(order)),
    takeBytes,
    policy: (gen, policy) =>
      takeBytes(
        hubSubjects.clusterOrder(CLUSTER),
        encode({ v: WIRE_VERSION, gen, term: 1, cluster: CLUSTER, policy } as { v: typeof WIRE_VERSION }),
      ),
    entry: (key) => ledger.entries.get(key),
    newest: (key) => reports.newest.get(key),
    phase: (key, phase) =>
      until(`${key} to be ${phase}`, () => {
        const report = reports.newest.get(key);
        if (report?.phase !== phase)
          throw new Error(`${report?.phase}: ${report?.reason.text}; ${said.join(' | ')}`);
        return report;
      }),
    die,
  };
}

const never = (): Promise<never> => new Promise(() => undefined);

const outboxInto = (said: string[], newest: (key: string) => Report | undefined): Outbox => ({
  put: (name) => {
    const [kind, key = ''] = name.split(' ');
    const report = newest(key);
    if (kind === 'report' && report !== undefined) said.push(`${key} ${report.phase} ${report.reason.code}`);
  },
  size: 0,
  wake: () => undefined,
  idle: () => Promise.resolve(),
  close: () => undefined,
});
