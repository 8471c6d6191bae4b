/** A broker with the accounts of two clusters, as a hub leaves it: streams, consumers and one order each. */
import { natsConfig, type ClusterAccount } from '../../../deploy/nats/config.ts';
import {
  AckPolicy,
  connectBroker,
  DiscardPolicy,
  jetsOf,
  makeUserKey,
  type Jets,
  type NatsConnection,
} from '../../../shared/nats.ts';
import {
  AGENT_API_PREFIX,
  ARTIFACT_STREAM,
  hubSubjects,
  ORDER_CONSUMER,
  streams,
} from '../../../shared/subjects.ts';
import { startNats, type NatsServer } from '../../harness/nats.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';

export interface Client extends Jets {
  readonly connection: NatsConnection;
}

export interface Cluster extends ClusterAccount {
  readonly seed: string;
}

export interface Broker {
  readonly server: NatsServer;
  readonly hub: Client;
  config(clusters: readonly ClusterAccount[]): string;
}

export function makeCluster(account: string): Cluster {
  return { account, ...makeUserKey() };
}

export async function startBroker(owner: Owner, clusters: readonly ClusterAccount[]): Promise<Broker> {
  const hub = makeUserKey();
  const configFor = (storeDir: string, accounts: readonly ClusterAccount[]): string =>
    natsConfig({
      storeDir,
      hubKey: hub.publicKey,
      clusters: accounts.map(({ account, publicKey }) => ({ account, publicKey })),
    });
  const server = await startNats(owner, { config: (storeFolder) => configFor(storeFolder, clusters) });
  return {
    server,
    hub: await connectAs(owner, server, { seed: hub.seed }),
    config: (accounts) => configFor(server.storeFolder, accounts),
  };
}

/** A hub's or (with `apiPrefix`) an agent's connection. */
export async function connectAs(
  owner: Owner,
  server: NatsServer,
  { seed, apiPrefix }: { seed: string; apiPrefix?: string },
): Promise<Client> {
  const connection = await connectBroker({
    servers: [server.url],
    seed: () => new TextEncoder().encode(seed),
    name: 'test',
  });
  atEnd(owner, () => connection.close());
  return { connection, ...(await jetsOf(connection, apiPrefix)) };
}

export const connectAgent = (owner: Owner, broker: Broker, cluster: Cluster): Promise<Client> =>
  connectAs(owner, broker.server, { seed: cluster.seed, apiPrefix: AGENT_API_PREFIX });

/** The streams and the consumer that the hub makes for a cluster. */
export async function makeStreams({ jsm }: Jets, account: string): Promise<void> {
  await jsm.streams.add({
    name: streams.orders(account),
    subjects: [hubSubjects.orders(account)],
    max_msgs_per_subject: 1,
  });
  await jsm.streams.add({
    name: streams.state(account),
    subjects: [hubSubjects.reports(account)],
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
  });
  await jsm.consumers.add(streams.orders(account), {
    durable_name: ORDER_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    filter_subject: hubSubjects.orders(account),
  });
}

export async function makeArtifacts({ jsm }: Jets): Promise<void> {
  await jsm.streams.add({
    name: ARTIFACT_STREAM,
    subjects: [hubSubjects.artifacts],
    max_msgs_per_subject: 1,
    allow_direct: true,
  });
}
