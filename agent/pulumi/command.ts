/** Command lines and environment of the Pulumi CLI. No secret is ever an argument: every process can read those. */
import type { Order } from '../../shared/wire.ts';

/** Where a run's things are. */
export interface Places {
  readonly home: string;
  readonly temp: string;
  readonly pulumiHome: string;
}

type Target = Pick<Order, 'inputs' | 'policy'>;

const common = (order: Target): string[] => ['--non-interactive', '--stack', order.inputs.pulumiStack];

const each = (flag: string, values: readonly string[] | undefined): string[] =>
  (values ?? []).flatMap((value) => [flag, value]);

/** What `up` and its preview have in common, so that the preview shows what `up` would do. */
const planArguments = (order: Target): string[] => [
  '--parallel',
  String(order.policy.parallel),
  ...(order.inputs.refresh === true ? ['--refresh'] : []),
  ...(order.inputs.runProgram === true ? ['--run-program'] : []),
  ...each('--target', order.inputs.targets),
  ...each('--exclude', order.inputs.excludes),
  ...each('--replace', order.inputs.replace),
];

/** The update. Its events go to a file whose folder must exist: a missing one is silent (seen). */
export const upArguments = (order: Target, events: string): string[] => [
  'up',
  '--yes',
  '--skip-preview',
  ...common(order),
  '--event-log',
  events,
  '--suppress-permalink=true',
  ...planArguments(order),
  ...(order.policy.continueOnError ? ['--continue-on-error'] : []),
  ...(order.policy.message === '' ? [] : ['--message', order.policy.message]),
];

/** What an update would do. Takes no lock. */
export const previewArguments = (order: Target, events: string): string[] => [
  'preview',
  ...common(order),
  '--event-log',
  events,
  '--suppress-permalink=true',
  ...planArguments(order),
];

/** Makes the stack; fails when it is there already. */
export const initArguments = (order: Target): string[] => [
  'stack',
  'init',
  ...common(order),
  ...(order.inputs.secretsProvider === undefined ? [] : ['--secrets-provider', order.inputs.secretsProvider]),
];

/** The state, encrypted. Takes no lock. */
export const exportArguments = (order: Target): string[] => ['stack', 'export', ...common(order)];

/** Deletes every lock of the stack and stops nobody. */
export const cancelArguments = (order: Target): string[] => ['cancel', '--yes', ...common(order)];

/** Forgets creates whose outcome is unknown. */
export const clearArguments = (order: Target): string[] => [
  'refresh',
  '--yes',
  '--skip-preview',
  ...common(order),
  '--clear-pending-creates',
  '--suppress-permalink=true',
];

/** Fails after it took the lock, having changed no resource; where the stack is locked, it says by whom. */
export const probeArguments = (order: Target): string[] => [
  'refresh',
  '--yes',
  '--skip-preview',
  ...common(order),
  '--suppress-permalink=true',
  '--target',
  `urn:pulumi:${order.inputs.pulumiStack.split('/').at(-1)}::towline::towline:probe:Lock::none`,
];

/** Encrypts the value on standard input and writes it to the settings file. */
export const setSecretArguments = (order: Target, key: string): string[] => [
  'config',
  'set',
  '--secret',
  '--raw',
  ...common(order),
  key,
];

/** Names that the agent sets itself; an order that sets one is refused. */
export const RESERVED_ENV: ReadonlySet<string> = new Set([
  'HOME',
  'PULUMI_HOME',
  'PULUMI_BACKEND_URL',
  'PULUMI_DEBUG_COMMANDS',
  'PULUMI_SKIP_CHECKPOINTS',
  'PULUMI_EXPERIMENTAL',
  'PULUMI_DISABLE_SECRET_CACHE',
  'PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS',
  'TOWLINE_RUN',
  'TOWLINE_DATA',
  'TOWLINE_GUARD',
]);

/** The whole environment of a run: nothing of the agent's own is in it. */
export function environmentOf(run: {
  readonly order: Pick<Target, 'inputs'>;
  readonly places: Places;
  readonly path: readonly string[];
  readonly resolved: Readonly<Record<string, string>>;
  readonly marks: Readonly<Record<string, string>>;
}): Record<string, string> {
  const { url } = run.order.inputs.backend ?? {};
  return {
    LANG: 'C.UTF-8',
    PATH: run.path.join(':'),
    TMPDIR: run.places.temp,
    // type errors belong to the program's own checks; checking them here costs 3 to 7 s a run (measured)
    PULUMI_NODEJS_TRANSPILE_ONLY: 'true',
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: 'true',
    PULUMI_SUPPRESS_NEO_LINK: 'true',
    ...run.resolved,
    HOME: run.places.home,
    PULUMI_HOME: run.places.pulumiHome,
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_SKIP_CONFIRMATIONS: 'true',
    // --event-log exists only with it
    PULUMI_DEBUG_COMMANDS: 'true',
    // a fresh folder would otherwise make a new salt and encrypt the whole state again
    PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER: 'true',
    ...(url === undefined ? {} : { PULUMI_BACKEND_URL: url }),
    ...run.marks,
  };
}
