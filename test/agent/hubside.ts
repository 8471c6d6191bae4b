/** The other side of an agent: a real broker with the real accounts and streams, and a hub that answers what it is told. */
import { natsConfig } from '../../deploy/nats/config.ts';
import { clusterMessage, ensureAccount, orderMessage, publishOrders } from '../../hub/streams.ts';
import { makeUserKey, readLastMessages, type Jets } from '../../shared/nats.ts';
import { hubSubjects, streams } from '../../shared/subjects.ts';
import {
  decode,
  encode,
  helloAnswerSchema,
  helloSchema,
  logChunkSchema,
  reportSchema,
  runRecordSchema,
  WIRE_VERSION,
  type ClusterPolicy,
  type Hello,
  type HelloAnswer,
  type LogChunk,
  type Order,
  type Report,
  type RunRecord,
} from '../../shared/wire.ts';
import type { z } from 'zod';
import { connectTo } from '../harness/client.ts';
import { startNats, type NatsServer } from '../harness/nats.ts';
import type { Owner } from '../harness/owned.ts';
import { until } from '../harness/until.ts';

export interface HubSide {
  readonly server: NatsServer;
  readonly jets: Jets;
  /** Seed of the agent's user. */
  readonly seed: string;
  readonly hellos: Hello[];
  readonly beats: Uint8Array[];
  /** What hello is answered with; undefined: not at all. */
  answer: (hello: Hello) => Partial<HelloAnswer> | undefined;
  publish(...orders: readonly Order[]): Promise<void>;
  policy(gen: number, policy: ClusterPolicy): Promise<void>;
  reports(): Promise<readonly Report[]>;
  runs(): Promise<readonly RunRecord[]>;
  logs(): Promise<readonly LogChunk[]>;
  /** Waits for the report of a placement with this phase, and with `gen` where one is given. */
  phase(name: string, phase: Report['phase'], gen?: number): Promise<Report>;
  /** Orders that the agent has not acknowledged. */
  unacknowledged(): Promise<number>;
}

const ACCOUNT = 'dev';

export async function startHubSide(owner: Owner): Promise<HubSide> {
  const [hub, agent] = [makeUserKey(), makeUserKey()];
  const clusters = [{ account: ACCOUNT, publicKey: agent.publicKey }];
  const server = await startNats(owner, {
    config: (storeDir) => natsConfig({ storeDir, hubKey: hub.publicKey, clusters }),
  });
  const { connection, ...jets } = await connectTo(owner, server.url, { seed: hub.seed });
  await ensureAccount(jets, ACCOUNT);
  const read = async <T>(stream: string, filter: string, schema: z.ZodType<T>): Promise<readonly T[]> =>
    (await readLastMessages(jets, stream, filter)).flatMap(({ data }) => {
      const decoded = decode(schema, data);
      return decoded.kind === 'message' ? [decoded.message] : [];
    });
  const publish = async (messages: Parameters<typeof publishOrders>[2]): Promise<void> => {
    const { state } = await jets.jsm.streams.info(streams.orders(ACCOUNT));
    await publishOrders(jets, state.last_seq, messages);
  };
  const side: HubSide = {
    server,
    jets,
    seed: agent.seed,
    hellos: [],
    beats: [],
    answer: () => ({}),
    publish: (...orders) => publish(orders.map((order) => orderMessage(ACCOUNT, order))),
    policy: (gen, policy) =>
      publish([clusterMessage(ACCOUNT, { v: WIRE_VERSION, gen, term: 1, cluster: ACCOUNT, policy })]),
    reports: () => read(streams.state(ACCOUNT), hubSubjects.reports(ACCOUNT), reportSchema),
    runs: () => read(streams.runs(ACCOUNT), hubSubjects.runs(ACCOUNT), runRecordSchema),
    logs: () => read(streams.logs(ACCOUNT), hubSubjects.logs(ACCOUNT), logChunkSchema),
    phase: (name, phase, gen) =>
      until(`${name} to be ${phase}`, async () => {
        const reports = await side.reports();
        const report = reports.find(({ stack }) => stack.name === name);
        if (report?.phase !== phase || (gen !== undefined && report.gen !== gen))
          throw new Error(`${report?.phase} ${report?.gen} ${report?.reason.text}`);
        return report;
      }),
    unacknowledged: async () => {
      const info = await jets.jsm.consumers.info(streams.orders(ACCOUNT), 'agent');
      return info.num_pending + info.num_ack_pending;
    },
  };
  connection.subscribe(hubSubjects.hellos, {
    callback: (_error, message) => {
      const decoded = decode(helloSchema, message.data);
      if (decoded.kind !== 'message') return;
      side.hellos.push(decoded.message);
      const answer = side.answer(decoded.message);
      if (answer !== undefined)
        message.respond(encode(helloAnswerSchema.parse({ ...plainAnswer, ...answer })));
    },
  });
  connection.subscribe(hubSubjects.beats, { callback: (_error, { data }) => void side.beats.push(data) });
  return side;
}

const plainAnswer: HelloAnswer = { v: WIRE_VERSION, term: 1, needList: false, epoch: 0, resend: [] };
