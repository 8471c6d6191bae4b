/** What lies on the broker, read with the hub's own key. */
import type { Jets } from '../../shared/nats.ts';
import { streams } from '../../shared/subjects.ts';
import { connectTo } from '../harness/client.ts';
import type { Owner } from '../harness/owned.ts';

export interface Stored {
  readonly stream: string;
  readonly subject: string;
  readonly data: Uint8Array;
}

export interface Broker {
  /** To write what only the hub may write. */
  readonly jets: Jets;
  /** Messages ever written to a cluster's order stream: orders, and the cluster's own policy. */
  published(cluster: string): Promise<number>;
  /** Every message of every stream. */
  contents(): Promise<readonly Stored[]>;
}

/** Connects as the hub. Ends with its owner. */
export async function openBroker(
  owner: Owner,
  { url, seed }: { readonly url: string; readonly seed: string },
): Promise<Broker> {
  const jets = await connectTo(owner, url, { seed });
  return {
    jets,
    published: async (cluster) => (await jets.jsm.streams.info(streams.orders(cluster))).state.last_seq,
    contents: async () => {
      const names: string[] = [];
      for await (const name of jets.jsm.streams.names()) names.push(name);
      return (await Promise.all(names.map((name) => messagesOf(jets, name)))).flat();
    },
  };
}

/** One by one: that is slow, and leaves nothing out. */
async function messagesOf({ jsm }: Jets, stream: string): Promise<readonly Stored[]> {
  const { first_seq, last_seq } = (await jsm.streams.info(stream)).state;
  const found: Stored[] = [];
  for (let seq = Math.max(1, first_seq); seq <= last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(stream, { seq });
    if (message !== null) found.push({ stream, subject: message.subject, data: message.data });
  }
  return found;
}
