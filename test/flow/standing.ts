/** How placements stand on the broker itself, whatever a hub remembers of them. */
import { SETTLED } from '../../shared/outcome.ts';
import type { Jets } from '../../shared/nats.ts';
import { ARTIFACT_STREAM, hubSubjects, streams } from '../../shared/subjects.ts';
import { decode, orderSchema, reportSchema, type Order, type Report } from '../../shared/wire.ts';
import type { Broker } from './broker.ts';

export interface Standing {
  readonly order: Order | undefined;
  readonly report: Report | undefined;
  /** Every chunk of the order's artifact is there. */
  readonly hasArtifact: boolean;
}

/** One placement of the namespace `default`. */
export async function standingOf({ jets }: Broker, cluster: string, name: string): Promise<Standing> {
  const stack = { namespace: 'default', name };
  const order = await newest(jets, streams.orders(cluster), hubSubjects.order(cluster, stack), orderSchema);
  const report = await newest(jets, streams.state(cluster), hubSubjects.report(cluster, stack), reportSchema);
  const artifact = order?.artifact ?? { name: '', chunks: 0 };
  const chunks = Array.from({ length: artifact.chunks }, (_, n) =>
    hubSubjects.artifactChunk(artifact.name, n),
  );
  const found = await Promise.all(chunks.map((subject) => messageOn(jets, ARTIFACT_STREAM, subject)));
  return { order, report, hasArtifact: order !== undefined && found.every((data) => data !== undefined) };
}

async function newest<T>(
  jets: Jets,
  ...[stream, subject, schema]: [string, string, Parameters<typeof decode<T>>[0]]
): Promise<T | undefined> {
  const data = await messageOn(jets, stream, subject);
  const decoded = data && decode(schema, data);
  return decoded?.kind === 'message' ? decoded.message : undefined;
}

/** The newest message of a subject. */
export async function messageOn(
  { jsm }: Jets,
  stream: string,
  subject: string,
): Promise<Uint8Array | undefined> {
  return (await jsm.streams.getMessage(stream, { last_by_subj: subject }))?.data;
}

/** The agent has settled at the order that lies there, and could fetch its artifact again. */
export const isWhole = ({ order, report, hasArtifact }: Standing): boolean =>
  order !== undefined && report?.gen === order.gen && SETTLED.has(report.phase) && hasArtifact;
