/**
 * How a placement stands, and why. The words that hub, agent, API and dashboard share.
 */
import * as z from 'zod';

/**
 * Phases of a placement, as its agent reports them.
 *
 * A new order makes it `Pending`. It is `Waiting` while something that passes by itself keeps it from starting
 * (a slot, a foreign lock), `Preparing` while files and dependencies are laid out, `Running` while the
 * Pulumi CLI works. It comes to rest as `Succeeded`, `Failed` (the run ended badly; a new order starts over), or
 * `Stalled` (only a person can say what is right). `Suspended`, `Orphaned` and `Invalid` are held by decision.
 * `Unknown`: the hub has no report yet.
 */
export const PHASES = [
  'Pending',
  'Waiting',
  'Preparing',
  'Running',
  'Succeeded',
  'Failed',
  'Retrying',
  'Stalled',
  'AwaitingApproval',
  'Drifted',
  'Destroying',
  'Destroyed',
  'Suspended',
  'Orphaned',
  'Invalid',
  'Unknown',
] as const;
export const phaseSchema = z.enum(PHASES);
export type Phase = z.infer<typeof phaseSchema>;

/** Phases in which nothing more happens until something from outside changes. */
export const SETTLED: ReadonlySet<Phase> = new Set<Phase>([
  'Succeeded',
  'Failed',
  'Stalled',
  'AwaitingApproval',
  'Drifted',
  'Destroyed',
  'Suspended',
  'Orphaned',
  'Invalid',
]);

/** Where a phase may go next, besides staying. A new order may take any settled phase to Pending or a hold. */
const HOLDS = ['Suspended', 'Orphaned', 'Invalid'] as const;
export const TRANSITIONS: Readonly<Record<Phase, readonly Phase[]>> = {
  Unknown: PHASES,
  Pending: ['Waiting', 'Preparing', 'Running', 'Succeeded', 'Failed', 'Stalled', 'Destroying', ...HOLDS],
  Waiting: ['Pending', 'Preparing', 'Succeeded', 'Failed', 'Stalled', 'Destroying', ...HOLDS],
  Preparing: ['Pending', 'Waiting', 'Running', 'Failed', 'Stalled', 'Retrying', 'AwaitingApproval', ...HOLDS],
  Running: [
    'Pending',
    'Waiting',
    'Preparing',
    'Succeeded',
    'Failed',
    'Stalled',
    'Retrying',
    'AwaitingApproval',
    ...HOLDS,
  ],
  Succeeded: ['Pending', 'Waiting', 'Preparing', 'Drifted', 'Destroying', ...HOLDS],
  Failed: ['Pending', 'Waiting', 'Preparing', 'Succeeded', 'Retrying', 'Destroying', ...HOLDS],
  Retrying: ['Pending', 'Waiting', 'Preparing', 'Failed', 'Stalled', 'Destroying', ...HOLDS],
  Stalled: ['Pending', 'Waiting', 'Preparing', 'Succeeded', 'Destroying', ...HOLDS],
  AwaitingApproval: ['Pending', 'Waiting', 'Preparing', 'Succeeded', 'Destroying', ...HOLDS],
  Drifted: ['Pending', 'Waiting', 'Preparing', 'Succeeded', 'Destroying', ...HOLDS],
  Destroying: ['Destroyed', 'Failed', 'Stalled', ...HOLDS],
  Destroyed: ['Pending', 'Waiting', 'Preparing', ...HOLDS],
  Suspended: [
    'Pending',
    'Waiting',
    'Preparing',
    'Succeeded',
    'Failed',
    'Stalled',
    'Destroying',
    'Orphaned',
    'Invalid',
  ],
  Orphaned: [
    'Pending',
    'Waiting',
    'Preparing',
    'Succeeded',
    'Failed',
    'Stalled',
    'Destroying',
    'Suspended',
    'Invalid',
  ],
  Invalid: [
    'Pending',
    'Waiting',
    'Preparing',
    'Succeeded',
    'Failed',
    'Stalled',
    'Destroying',
    'Suspended',
    'Orphaned',
  ],
};

/** Whether a placement may be shown as `to` after it was shown as `from`. */
export const mayFollow = (from: Phase, to: Phase): boolean => from === to || TRANSITIONS[from].includes(to);

/** Every reason that a decision of hub or agent may carry. The texts beside them are for people. */
export const REASON_CODES = [
  // why something runs
  'NewPlacement',
  'InputChanged',
  'ConfigChanged',
  'OverrideChanged',
  'DependencyOutputChanged',
  'LastAttemptFailed',
  'RunRequested',
  'ReferenceChanged',
  'ClusterRebuilt',
  'Interrupted',
  // why nothing runs
  'Unchanged',
  'OnlyPolicyChanged',
  'NotSelected',
  'AlreadyApplied',
  'AlreadyAttempted',
  'Superseded',
  'StaleOrder',
  // why something waits
  'NoSlot',
  'Starting',
  'BackingOff',
  'Held',
  'Suspended',
  'OutsideWindow',
  'WaitingForDependency',
  'WaitingForWave',
  'WaitingForApproval',
  'Locked',
  'ArtifactUnavailable',
  'SourceUnavailable',
  // why a person is needed
  'PendingCreates',
  'WouldDelete',
  'Orphaned',
  'Removed',
  'StackIdentityChanged',
  'ClaimConflict',
  'DuplicateIdentity',
  'Invalid',
  'NotYetSupported',
  'OrderTooLarge',
  'CliTooOld',
  'TenantRefused',
  'DeletionGuard',
  'UndeclaredDependency',
  'UndeclaredInput',
  'BaseUnavailable',
  // how a run ended
  'RunSucceeded',
  'RunFailed',
  'Running',
] as const;
export const reasonCodeSchema = z.enum(REASON_CODES);
export type ReasonCode = z.infer<typeof reasonCodeSchema>;

/** Inputs and commits in a reason are cut here; the counts beside them stay whole. */
export const MAX_REASON_INPUTS = 20;
export const MAX_REASON_COMMITS = 5;

export const reasonSchema = z.object({
  code: reasonCodeSchema,
  text: z.string(),
  /** Changed inputs: a file path or a field of the spec, with its old and new value id (absent: not there). */
  inputs: z
    .array(z.object({ path: z.string(), from: z.string().optional(), to: z.string().optional() }))
    .optional(),
  inputCount: z.number().int().optional(),
  commits: z.array(z.object({ id: z.string(), subject: z.string() })).optional(),
});
export type Reason = z.infer<typeof reasonSchema>;

/**
 * Kinds of failure, each with what happens next:
 * `Config` waits for a new order; `Program` and `Provider` end the attempt; `RateLimited` is a Provider failure that
 * asked for patience; `Locked` waits; `Lost` was cut off and may start once more; `Timeout` and `Hung` were stopped by
 * the agent; `Cancelled` was stopped because somebody asked.
 */
export const FAILURE_CLASSES = [
  'Config',
  'Program',
  'Provider',
  'RateLimited',
  'Locked',
  'Lost',
  'Timeout',
  'Hung',
  'Cancelled',
] as const;
export const failureClassSchema = z.enum(FAILURE_CLASSES);
export type FailureClass = z.infer<typeof failureClassSchema>;
