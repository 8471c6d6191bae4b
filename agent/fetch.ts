/** The stored bytes of an artifact from the broker, chunk by chunk; works with the hub down. */
import pLimit from 'p-limit';
import { limits } from '../shared/limits.ts';
import type { NatsConnection } from '../shared/nats.ts';
import { agentSubjects } from '../shared/subjects.ts';
import type { ArtifactRef } from '../shared/wire.ts';

/** Chunks that are asked for at once (0.15 s for 20 MB, 0.35 s one by one). */
const AT_ONCE = 4;

/** Rejects when the artifact is not there yet, or not whole; what arrives is checked by its name when it is opened. */
export async function fetchArtifact(connection: NatsConnection, ref: ArtifactRef): Promise<Buffer> {
  if (ref.size > limits.artifactBytes || ref.chunks > limits.artifactBytes / limits.chunkBytes)
    throw new Error(`the artifact is larger than ${limits.artifactBytes} bytes`);
  const turns = pLimit({ concurrency: AT_ONCE, rejectOnClear: true });
  const numbers = Array.from({ length: ref.chunks }, (_, n) => n);
  return Buffer.concat(
    await Promise.all(numbers.map((n) => turns(() => fetchChunk(connection, ref.name, n)))),
  );
}

/** The broker answers with the message, or with a status such as 404 in the headers and no body. */
async function fetchChunk(connection: NatsConnection, name: string, n: number): Promise<Uint8Array> {
  const subject = agentSubjects.artifactChunk(name, n);
  const reply = await connection.request(subject, undefined, { timeout: limits.requestTimeoutMs });
  const code = reply.headers?.code ?? 0;
  if (code !== 0) throw new Error(`chunk ${n} of the artifact is not there yet (${code})`);
  return reply.data;
}
