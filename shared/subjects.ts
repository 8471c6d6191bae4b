/**
 * Every NATS name that Towline uses: streams, subjects, service calls.
 *
 * `account` is the NATS account of a cluster (in a configuration file: the cluster's name as a token).
 * Hub subjects carry the account; agent subjects do not: the server inserts it on import, so an agent
 * cannot name another cluster.
 */

/** Names hold dots, subject tokens cannot; no Kubernetes name holds `_`, so this is one to one. */
export const token = (name: string): string => name.replaceAll('.', '_');

/** The inverse of {@link token}. */
export const untoken = (part: string): string => part.replaceAll('_', '.');

export interface StackRef {
  readonly namespace: string;
  readonly name: string;
}

/** A stack at the end of a subject. */
export const stackTokens = (stack: StackRef): string => `${token(stack.namespace)}.${token(stack.name)}`;

/** The durable pull consumer that the hub makes on every order stream. */
export const ORDER_CONSUMER = 'agent';

/** Prefix of the JetStream API inside an agent's account (an import without a mapping answers 503). */
export const AGENT_API_PREFIX = 'hub.api';

export const ARTIFACT_STREAM = 'ARTIFACTS';
export const LEASE_BUCKET = 'LEASES';

export const streams = {
  orders: (account: string): string => account,
  state: (account: string): string => `STATE_${account}`,
  runs: (account: string): string => `RUNS_${account}`,
  logs: (account: string): string => `LOGS_${account}`,
};

/** Subjects in the hub's account. */
export const hubSubjects = {
  order: (account: string, stack: StackRef): string => `orders.${account}.${stackTokens(stack)}`,
  clusterOrder: (account: string): string => `orders.${account}._cluster`,
  orders: (account: string): string => `orders.${account}.>`,
  report: (account: string, stack: StackRef): string => `state.${account}.report.${stackTokens(stack)}`,
  reports: (account: string): string => `state.${account}.report.>`,
  run: (account: string, stack: StackRef): string => `state.${account}.run.${stackTokens(stack)}`,
  runs: (account: string): string => `state.${account}.run.>`,
  log: (account: string, run: string, n: number): string => `state.${account}.log.${run}.${n}`,
  logsOfRun: (account: string, run: string): string => `state.${account}.log.${run}.>`,
  logs: (account: string): string => `state.${account}.log.>`,
  artifactChunk: (name: string, chunk: number): string => `artifact.${name}.${chunk}`,
  artifactOf: (name: string): string => `artifact.${name}.>`,
  artifacts: 'artifact.>',
  artifactChunks: 'artifact.*.*',
  /** Everything that the agent of a cluster publishes: reports, runs, logs. */
  state: (account: string): string => `state.${account}.>`,
  hello: (account: string): string => `hub.hello.${account}`,
  hellos: 'hub.hello.*',
  beat: (account: string): string => `hub.beat.${account}`,
  beats: 'hub.beat.*',
};

/** Subjects in an agent's account. */
export const agentSubjects = {
  report: (stack: StackRef): string => `state.report.${stackTokens(stack)}`,
  run: (stack: StackRef): string => `state.run.${stackTokens(stack)}`,
  log: (run: string, n: number): string => `state.log.${run}.${n}`,
  artifactChunk: (name: string, chunk: number): string => `hub.artifact.${name}.${chunk}`,
  artifactChunks: 'hub.artifact.*.*',
  state: 'state.>',
  hello: 'hub.hello',
  beat: 'hub.beat',
};

/** The account of a `hub.hello.<account>` or `hub.beat.<account>` subject. */
export const accountOfCall = (subject: string): string => subject.split('.')[2] ?? '';

/** The stack of an `orders.<account>.<ns>.<name>` subject; undefined for the cluster's own message. */
export function stackOfOrder(subject: string): StackRef | undefined {
  const [, , namespace, name] = subject.split('.');
  return namespace !== undefined && name !== undefined
    ? { namespace: untoken(namespace), name: untoken(name) }
    : undefined;
}
