/** The CLI's event log → what happened. Holds no value of any resource; debug events are dropped unread. */
import type { EngineEvent } from '@pulumi/pulumi/automation/events.js';
import type { Changes, RunRecord } from '../../shared/wire.ts';

/** What is kept of an event log. */
export interface Outcome {
  readonly changes: Changes;
  /** Changed resources in the order in which they were done. */
  readonly resources: RunRecord['resources'];
  /** Planned operations, also those that failed or, in a preview, were never tried. */
  readonly planned: RunRecord['resources'];
  readonly errors: readonly { readonly text: string; readonly urn?: string }[];
  readonly failedResources: number;
  readonly summary?: { readonly result: string };
}

export interface EventFold {
  /** One line of the log, without its end. */
  push(line: string): void;
  outcome(): Outcome;
}

/** Changed resources kept of one run; the counts stay whole. */
const MAX_RESOURCES = 1_000;
/** Error messages kept of one run. */
const MAX_ERRORS = 50;

/** Operations that change nothing outside the state. */
const SILENT_OPS: ReadonlySet<string> = new Set([
  'same',
  'read',
  'refresh',
  'discard',
  'remove-pending-replace',
]);

/** Engine-made providers: they come and go with their resources and are nothing that a person declared. */
const DEFAULT_PROVIDER = /::pulumi:providers:[^:]+::default(_|$)/;

/** The CLI says how an update ended; its types do not yet. */
type Event = Partial<EngineEvent> & { readonly summaryEvent?: { readonly result?: string } };

interface Step {
  readonly op: string;
  readonly urn: string;
}

/** Reads events as they come. */
export function makeEventFold(): EventFold {
  const resources: Step[] = [];
  const planned: Step[] = [];
  const errors: { text: string; urn?: string }[] = [];
  let failedResources = 0;
  let summary: Event['summaryEvent'];
  const take = (event: Event): void => {
    keep(planned, event.resourcePreEvent?.metadata);
    keep(resources, event.resOutputsEvent?.metadata);
    if (event.resOpFailedEvent !== undefined) failedResources += 1;
    const { diagnosticEvent } = event;
    if (diagnosticEvent?.severity === 'error' && errors.length < MAX_ERRORS)
      errors.push({
        text: diagnosticEvent.message,
        ...(diagnosticEvent.urn === undefined || diagnosticEvent.urn === ''
          ? {}
          : { urn: diagnosticEvent.urn }),
      });
    summary = event.summaryEvent ?? summary;
  };
  return {
    push: (line) => {
      const event = readEvent(line);
      if (event !== undefined) take(event);
    },
    outcome: () => ({
      changes:
        summary?.resourceChanges === undefined ? counted(resources) : changesOf(summary.resourceChanges),
      resources,
      planned,
      errors,
      failedResources,
      ...(summary === undefined ? {} : { summary: { result: summary.result ?? '' } }),
    }),
  };
}

function keep(list: Step[], step: Step | undefined): void {
  if (step === undefined || SILENT_OPS.has(step.op) || DEFAULT_PROVIDER.test(step.urn)) return;
  if (list.length < MAX_RESOURCES) list.push({ op: step.op, urn: step.urn });
}

/** The beginning of a resource event whose line was too long to be kept whole. */
const CUT_STEP =
  /"(resourcePreEvent|resOutputsEvent)":\{"metadata":\{"op":"([^"]+)","urn":"((?:[^"\\]|\\.)+)"/;

function readEvent(line: string): Event | undefined {
  try {
    const event = JSON.parse(line) as Event | null;
    return event ?? undefined;
  } catch {
    const [, kind, op, urn] = CUT_STEP.exec(line) ?? [];
    if (kind === undefined || op === undefined || urn === undefined) return undefined;
    return { [kind]: { metadata: { op, urn: JSON.parse(`"${urn}"`) as string } } };
  }
}

function changesOf(counts: Readonly<Record<string, number>>): Changes {
  const of = (...ops: string[]): number => ops.reduce((sum, op) => sum + (counts[op] ?? 0), 0);
  return {
    create: of('create', 'import'),
    update: of('update'),
    delete: of('delete'),
    // one replacement is reported as its whole or as its two halves
    replace: Math.max(of('replace', 'import-replacement'), of('create-replacement'), of('delete-replaced')),
    same: of('same'),
  };
}

function counted(steps: readonly Step[]): Changes {
  const counts: Record<string, number> = {};
  for (const { op } of steps) counts[op] = (counts[op] ?? 0) + 1;
  return changesOf(counts);
}

const DELETING: ReadonlySet<string> = new Set(['delete', 'delete-replaced', 'replace', 'create-replacement']);

/** What a preview would delete, or replace, which deletes as well. */
export const deletionsOf = (outcome: Outcome): RunRecord['resources'] => {
  const seen = new Map(
    outcome.planned.filter(({ op }) => DELETING.has(op)).map((step) => [step.urn, step] as const),
  );
  return [...seen.values()];
};
