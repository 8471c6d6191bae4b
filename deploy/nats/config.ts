/**
 * Configuration of the nats-server: one account for the hub with JetStream, one account per cluster without, and one
 * set of services that every cluster's account imports with its own name filled in. Pure.
 *
 * The server puts the account's name into each subject when a call crosses the import, so an agent cannot name
 * another cluster, whatever it publishes and whatever reply subject it asks for.
 */
import {
  AGENT_API_PREFIX,
  agentSubjects,
  ARTIFACT_STREAM,
  hubSubjects,
  ORDER_CONSUMER,
} from '../../shared/subjects.ts';

/** Upper case, so that no cluster's account (lower case by Kubernetes' rules) can have this name. */
export const HUB_ACCOUNT = 'HUB';

export interface ClusterAccount {
  /** Name of the account: the cluster's name as a subject token. */
  readonly account: string;
  /** Public nkey of the cluster's agent, `U…`. */
  readonly publicKey: string;
}

export interface NatsSettings {
  /** Defaults to loopback: another address is a decision. */
  readonly host?: string;
  /** Left out: the caller says it on the command line of nats-server. */
  readonly port?: number;
  readonly serverName?: string;
  /** Folder of JetStream. */
  readonly storeDir: string;
  /** Public nkey of the hub, `U…`. */
  readonly hubKey: string;
  readonly clusters: readonly ClusterAccount[];
}

/**
 * A service of the hub's account. `subject` has the account where `position` says so, counting tokens from 1; without
 * one it is the same for every cluster. `local` is what an agent calls.
 */
interface Service {
  readonly subject: (account: string) => string;
  readonly local: (account: string) => string;
  readonly position?: number;
  readonly response?: 'stream';
}

const orderConsumer = (call: string, account: string): string =>
  `CONSUMER.${call}.${account}.${ORDER_CONSUMER}`;

/** Acknowledgements keep their subject: the server writes it into each message. */
const acknowledgement = (subject: (account: string) => string, position: number): Service => ({
  subject,
  local: subject,
  position,
});

/** What agents may call, and nothing else. */
const SERVICES: readonly Service[] = [
  {
    subject: (account) => `$JS.API.${orderConsumer('MSG.NEXT', account)}`,
    local: (account) => `${AGENT_API_PREFIX}.${orderConsumer('MSG.NEXT', account)}`,
    position: 6,
    response: 'stream',
  },
  {
    subject: (account) => `$JS.API.${orderConsumer('INFO', account)}`,
    local: (account) => `${AGENT_API_PREFIX}.${orderConsumer('INFO', account)}`,
    position: 5,
  },
  acknowledgement((account) => `$JS.ACK.${account}.${ORDER_CONSUMER}.>`, 3),
  // The newer form: domain, hash of the hub's account, stream, consumer. The domain is spelt out (`_` is none): with a
  // wildcard there, an agent could write the older form of another cluster's acknowledgements.
  acknowledgement((account) => `$JS.ACK._.*.${account}.${ORDER_CONSUMER}.>`, 5),
  {
    subject: () => `$JS.API.DIRECT.GET.${ARTIFACT_STREAM}.${hubSubjects.artifactChunks}`,
    local: () => agentSubjects.artifactChunks,
  },
  { subject: hubSubjects.state, local: () => agentSubjects.state, position: 2 },
  { subject: hubSubjects.hello, local: () => agentSubjects.hello, position: 3 },
  { subject: hubSubjects.beat, local: () => agentSubjects.beat, position: 3 },
];

/**
 * The configuration file. It is JSON, which nats-server reads as it is. Throws when a name or a key could mean
 * something else in a subject or in the file.
 */
export function natsConfig(settings: NatsSettings): string {
  checkAccounts(settings);
  const configuration = {
    ...(settings.serverName === undefined ? {} : { server_name: settings.serverName }),
    host: settings.host ?? '127.0.0.1',
    ...(settings.port === undefined ? {} : { port: settings.port }),
    // A message is on disk before it is acknowledged: an order survives a machine that loses power.
    jetstream: { store_dir: settings.storeDir, sync_interval: 'always' },
    accounts: {
      [HUB_ACCOUNT]: {
        jetstream: 'enabled',
        users: [{ nkey: settings.hubKey }],
        exports: SERVICES.map(exportOf),
      },
      ...Object.fromEntries(
        settings.clusters.map(({ account, publicKey }) => [
          account,
          { users: [{ nkey: publicKey }], imports: SERVICES.map((service) => importOf(service, account)) },
        ]),
      ),
    },
  };
  return `${JSON.stringify(configuration, null, 2)}\n`;
}

function exportOf(service: Service): object {
  return {
    service: service.subject('*'),
    ...(service.position === undefined ? {} : { account_token_position: service.position }),
    ...(service.response === undefined ? {} : { response: service.response }),
  };
}

function importOf(service: Service, account: string): object {
  const subject = service.subject(account);
  const local = service.local(account);
  return {
    service: { account: HUB_ACCOUNT, subject },
    ...(local === subject ? {} : { to: local }),
  };
}

const ACCOUNT = /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/;
const USER_KEY = /^U[A-Z2-7]{55}$/;

function checkAccounts({ hubKey, clusters }: NatsSettings): void {
  for (const key of [hubKey, ...clusters.map((cluster) => cluster.publicKey)])
    if (!USER_KEY.test(key)) throw new Error(`“${key}” is not the public nkey of a user`);
  for (const { account } of clusters)
    if (!ACCOUNT.test(account)) throw new Error(`“${account}” is not a cluster's name as a subject token`);
  const names = new Set(clusters.map((cluster) => cluster.account));
  const keys = new Set([hubKey, ...clusters.map((cluster) => cluster.publicKey)]);
  if (names.size < clusters.length) throw new Error('a cluster is listed twice');
  if (keys.size < clusters.length + 1) throw new Error('two users have the same key');
}
