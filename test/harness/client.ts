/** Clients of a real broker, with the settings of production. */
import { connectBroker, jetsOf, makeUserKey, type Jets, type NatsConnection } from '../../shared/nats.ts';
import { atEnd, type Owner } from './owned.ts';

export interface Client extends Jets {
  readonly connection: NatsConnection;
}

export interface ClientOptions {
  /** Of the user's key. Default: a new one, for a server that knows no users. */
  readonly seed?: string;
  /** For an agent. */
  readonly apiPrefix?: string;
}

/** Connects; the connection ends with its owner. */
export async function connectTo(
  owner: Owner,
  url: string,
  { seed = makeUserKey().seed, apiPrefix }: ClientOptions = {},
): Promise<Client> {
  const connection = await connectBroker({
    servers: [url],
    seed: () => new TextEncoder().encode(seed),
    name: 'test',
  });
  atEnd(owner, () => connection.close());
  return { connection, ...(await jetsOf(connection, apiPrefix)) };
}
