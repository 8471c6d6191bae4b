/** How a run is carried out: the spec's policy fields, with the one table of their defaults. */
import { durationMs } from '../../crds/fields.ts';
import type { StackSpec } from '../../crds/stack.ts';
import { limits } from '../../shared/limits.ts';
import type { RunPolicy } from '../../shared/wire.ts';

/** What holds where a document says nothing. */
export const POLICY_DEFAULTS = {
  create: 'ifMissing',
  pendingCreates: 'hold',
  timeoutMs: limits.runTimeoutMs,
  /** Resource operations at a time; Pulumi's own default grows with the machine and so would pressure on the cloud. */
  parallel: 16,
  continueOnError: false,
  message: '',
  weight: 1,
  priority: 0,
  maxConcurrentRuns: 4,
  offlineAfterMs: limits.offlineAfterMs,
} as const;

/** The policy of a placement. `adopt` is refused before, so it never comes here. */
export function policyOf(spec: StackSpec, metadata: Pick<RunPolicy, 'labels' | 'annotations'>): RunPolicy {
  const run = spec.run ?? {};
  return {
    create: spec.create === 'never' ? 'never' : POLICY_DEFAULTS.create,
    pendingCreates: run.pendingCreates ?? POLICY_DEFAULTS.pendingCreates,
    timeoutMs: run.timeout === undefined ? POLICY_DEFAULTS.timeoutMs : durationMs(run.timeout),
    parallel: run.parallel ?? POLICY_DEFAULTS.parallel,
    continueOnError: run.continueOnError ?? POLICY_DEFAULTS.continueOnError,
    message: run.message ?? POLICY_DEFAULTS.message,
    weight: run.weight ?? POLICY_DEFAULTS.weight,
    priority: run.priority ?? POLICY_DEFAULTS.priority,
    ...(run.concurrencyGroup === undefined ? {} : { concurrencyGroup: run.concurrencyGroup }),
    labels: metadata.labels,
    annotations: metadata.annotations,
  };
}
