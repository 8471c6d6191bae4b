/** Settings of the agent. Pure: the environment and the machine are passed in. */
import { join } from 'node:path';
import type { Settings, Values } from '../shared/config.ts';
import { token } from '../shared/subjects.ts';
import type { RunUser } from './folders.ts';

export const agentSettings = {
  cluster: {
    env: 'TOWLINE_CLUSTER',
    type: 'string',
    doc: 'name of the cluster, as its Cluster manifest has it',
  },
  account: {
    env: 'TOWLINE_ACCOUNT',
    type: 'string',
    doc: 'NATS account of the cluster; default: the name of the cluster',
    optional: true,
  },
  name: {
    env: 'TOWLINE_AGENT_NAME',
    type: 'string',
    doc: 'how this agent is called in reports; default: the name of the machine',
    optional: true,
  },
  nats: {
    env: 'TOWLINE_NATS',
    type: 'list',
    unit: 'url',
    doc: 'servers to connect to',
    default: ['nats://127.0.0.1:4222'],
  },
  keyFile: {
    env: 'TOWLINE_KEY_FILE',
    type: 'string',
    unit: 'path',
    doc: 'seed of the NATS user, made when there is none; default: agent.seed in the data folder',
    optional: true,
  },
  printPublicKey: {
    env: 'TOWLINE_PRINT_PUBLIC_KEY',
    type: 'boolean',
    doc: 'print the public key that the hub must admit, and end',
    default: false,
  },
  dataDir: {
    env: 'TOWLINE_DATA_DIR',
    type: 'string',
    unit: 'folder',
    doc: 'ledger, caches and runs; one agent at a time',
    default: '/var/lib/towline',
  },
  incarnation: {
    env: 'TOWLINE_INCARNATION',
    type: 'string',
    doc: 'identity of the cluster: another one lets every stack run once, with a refresh; default: from machine and cluster',
    optional: true,
  },
  maxRuns: {
    env: 'TOWLINE_MAX_RUNS',
    type: 'number',
    unit: 'runs',
    doc: 'upper bound of this machine below the cluster’s maxConcurrentRuns; 0: none',
    default: 0,
  },
  allowEnv: {
    env: 'TOWLINE_ALLOW_ENV',
    type: 'list',
    unit: 'name',
    doc: 'environment variables of the agent that orders may take values from',
    default: [],
  },
  allowFiles: {
    env: 'TOWLINE_ALLOW_FILES',
    type: 'list',
    unit: 'path',
    doc: 'files, or folders with all in them, that orders may take values from',
    default: [],
  },
  runUser: {
    env: 'TOWLINE_RUN_USER',
    type: 'string',
    unit: 'uid:gid|self',
    doc: 'user of runs; default: 65534:65534 when the agent is root, else self',
    optional: true,
  },
  pulumi: { env: 'TOWLINE_PULUMI', type: 'string', unit: 'path', doc: 'the Pulumi CLI', default: 'pulumi' },
  onStop: {
    env: 'TOWLINE_ON_STOP',
    type: 'string',
    unit: 'finish|cancel|leave',
    doc: 'what SIGTERM does to runs: wait for them and leave what is not done to the next agent, stop them, or leave them',
    default: 'finish',
  },
  stopTimeout: {
    env: 'TOWLINE_STOP_TIMEOUT',
    type: 'number',
    unit: 'seconds',
    doc: 'how long SIGTERM waits for runs with --on-stop finish',
    default: 30,
  },
  httpPort: {
    env: 'TOWLINE_HTTP_PORT',
    type: 'number',
    unit: 'port',
    doc: 'port of /healthz, /readyz and /metrics; 0: none',
    default: 0,
  },
  logLevel: {
    env: 'TOWLINE_LOG_LEVEL',
    type: 'string',
    doc: 'trace, debug, info, warn, error or fatal',
    default: 'info',
  },
} as const satisfies Settings;

export type AgentValues = Values<typeof agentSettings>;

const ON_STOP = ['finish', 'cancel', 'leave'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
/** The user that owns nothing, on every Linux. */
const NOBODY: RunUser = { uid: 65_534, gid: 65_534 };

export interface AgentConfig {
  readonly cluster: string;
  readonly account: string;
  readonly name: string;
  readonly nats: readonly string[];
  readonly keyFile: string;
  readonly dataDir: string;
  readonly incarnation: string;
  /** Infinity: only the cluster's own bound. */
  readonly maxRuns: number;
  readonly allowEnv: readonly string[];
  readonly allowFiles: readonly string[];
  /** Undefined: runs have the agent's own user. */
  readonly runUser: RunUser | undefined;
  readonly pulumi: string;
  readonly onStop: (typeof ON_STOP)[number];
  readonly stopTimeoutMs: number;
  /** Undefined: no HTTP. */
  readonly httpPort: number | undefined;
  readonly logLevel: string;
}

/** What the defaults are made of. */
export interface Machine {
  readonly hostname: string;
  readonly isRoot: boolean;
  /** Stays the same over restarts of machine and agent, and outside the data folder. */
  readonly incarnationOf: (cluster: string) => string;
}

export type Configured =
  | { readonly kind: 'config'; readonly config: AgentConfig }
  | { readonly kind: 'errors'; readonly errors: readonly string[] };

/** All that is wrong is said at once. */
export function configOf(values: AgentValues, machine: Machine): Configured {
  const runUser = runUserOf(values.runUser, machine.isRoot);
  const onStop = ON_STOP.find((mode) => mode === values.onStop);
  const errors = [
    ...(runUser === 'invalid' ? ['--run-user must be UID:GID or self'] : []),
    ...(onStop === undefined ? [`--on-stop must be one of ${ON_STOP.join(', ')}`] : []),
    ...(LOG_LEVELS.includes(values.logLevel) ? [] : [`--log-level must be one of ${LOG_LEVELS.join(', ')}`]),
    ...(isCount(values.maxRuns) ? [] : ['--max-runs must be a whole number, 0 for no bound']),
    ...(values.stopTimeout >= 0 ? [] : ['--stop-timeout must not be negative']),
    ...(isCount(values.httpPort) && values.httpPort < 65_536 ? [] : ['--http-port must be a port']),
    ...(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(values.cluster)
      ? []
      : ['--cluster must be a Kubernetes name']),
  ];
  if (errors.length > 0 || runUser === 'invalid' || onStop === undefined) return { kind: 'errors', errors };
  return { kind: 'config', config: { ...plainConfig(values, machine), runUser, onStop } };
}

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0;

const plainConfig = (values: AgentValues, machine: Machine): Omit<AgentConfig, 'runUser' | 'onStop'> => ({
  cluster: values.cluster,
  account: values.account || token(values.cluster),
  name: values.name || machine.hostname,
  nats: values.nats,
  keyFile: values.keyFile || join(values.dataDir, 'agent.seed'),
  dataDir: values.dataDir,
  incarnation: values.incarnation || machine.incarnationOf(values.cluster),
  maxRuns: values.maxRuns === 0 ? Infinity : values.maxRuns,
  allowEnv: values.allowEnv,
  allowFiles: values.allowFiles,
  pulumi: values.pulumi,
  stopTimeoutMs: values.stopTimeout * 1_000,
  httpPort: values.httpPort === 0 ? undefined : values.httpPort,
  logLevel: values.logLevel,
});

function runUserOf(given: string, isRoot: boolean): RunUser | undefined | 'invalid' {
  if (given === '') return isRoot ? NOBODY : undefined;
  if (given === 'self') return undefined;
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(given) ?? [];
  return uid === undefined || gid === undefined ? 'invalid' : { uid: Number(uid), gid: Number(gid) };
}
