/** Where a fleet keeps what, below its data folder. Pure. */
import { join } from 'node:path';
import { token } from '../../shared/subjects.ts';

export interface Folders {
  readonly data: string;
  readonly logs: string;
  /** Keys and secrets of the hub: outside its data folder, which may be deleted. */
  readonly keys: string;
  readonly hubSeed: string;
  readonly hubSecret: string;
  readonly hubData: string;
  readonly repositories: string;
  readonly natsConfig: string;
  readonly natsStore: string;
  log(name: string): string;
  /** Folders of the agents; the user of their runs passes through it. */
  readonly clusters: string;
  /** Ledger, caches and key of a cluster's agent. */
  agent(cluster: string): string;
  agentKey(cluster: string): string;
}

/** `data` is an absolute path. */
export function foldersOf(data: string): Folders {
  const keys = join(data, 'keys');
  const clusters = join(data, 'clusters');
  const agent = (cluster: string): string => join(clusters, token(cluster));
  return {
    data,
    logs: join(data, 'logs'),
    keys,
    hubSeed: join(keys, 'hub.seed'),
    hubSecret: join(keys, 'hub.secret'),
    hubData: join(data, 'hub'),
    repositories: join(data, 'repositories.yaml'),
    natsConfig: join(data, 'nats.conf'),
    natsStore: join(data, 'nats'),
    log: (name) => join(data, 'logs', `${token(name)}.log`),
    clusters,
    agent,
    agentKey: (cluster) => join(agent(cluster), 'agent.seed'),
  };
}
