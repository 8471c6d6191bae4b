/** A connection of a hub to a real server, for tests of the hub's edges. */
import { connectBroker, jetsOf, makeUserKey, type Jets, type NatsConnection } from '../../shared/nats.ts';
import type { NatsServer } from '../harness/nats.ts';
import { atEnd, type Owner } from '../harness/owned.ts';

export interface Broker {
  readonly connection: NatsConnection;
  readonly jets: Jets;
}

/** Connects; the connection ends with its owner. */
export async function brokerOf(owner: Owner, server: NatsServer): Promise<Broker> {
  const { seed } = makeUserKey();
  const connection = await connectBroker({
    servers: [server.url],
    seed: () => new TextEncoder().encode(seed),
    name: 'hub',
  });
  atEnd(owner, () => connection.close());
  return { connection, jets: await jetsOf(connection) };
}
