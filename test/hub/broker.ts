/** A connection of a hub to a real server, for tests of the hub's edges. */
import type { Jets, NatsConnection } from '../../shared/nats.ts';
import { connectTo } from '../harness/client.ts';
import type { NatsServer } from '../harness/nats.ts';
import type { Owner } from '../harness/owned.ts';

export interface Broker {
  readonly connection: NatsConnection;
  readonly jets: Jets;
}

/** Connects; the connection ends with its owner. */
export async function brokerOf(owner: Owner, server: NatsServer): Promise<Broker> {
  const { connection, ...jets } = await connectTo(owner, server.url);
  return { connection, jets };
}
