/** A broker with the accounts of clusters, and clients of its hub and agents. */
import { natsConfig, type ClusterAccount } from '../../../deploy/nats/config.ts';
import { makeUserKey } from '../../../shared/nats.ts';
import { AGENT_API_PREFIX } from '../../../shared/subjects.ts';
import { connectTo, type Client } from '../../harness/client.ts';
import { startNats, type NatsServer } from '../../harness/nats.ts';
import type { Owner } from '../../harness/owned.ts';

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
    hub: await connectTo(owner, server.url, { seed: hub.seed }),
    config: (accounts) => configFor(server.storeFolder, accounts),
  };
}

export const connectAgent = (owner: Owner, broker: Broker, cluster: Cluster): Promise<Client> =>
  connectTo(owner, broker.server.url, { seed: cluster.seed, apiPrefix: AGENT_API_PREFIX });
