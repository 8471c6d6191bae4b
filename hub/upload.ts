/** Artifacts on the broker: whether one is there, and putting it there. The last chunk is written last: it marks the whole. */
import { chunksOf, type Sealed } from '../shared/seal.ts';
import type { Jets } from '../shared/nats.ts';
import { ARTIFACT_STREAM, hubSubjects } from '../shared/subjects.ts';
import type { ArtifactRef } from '../shared/wire.ts';

/** Chunks in flight at once. */
const WINDOW = 16;

/** Whether the last chunk of an artifact is on the broker. */
export async function hasArtifact({ jsm }: Jets, ref: ArtifactRef): Promise<boolean> {
  const marker = hubSubjects.artifactChunk(ref.name, ref.chunks - 1);
  const info = await jsm.streams.info(ARTIFACT_STREAM, { subjects_filter: marker });
  return info.state.subjects?.[marker] !== undefined;
}

/** Those of the artifacts that the broker lacks. One look at the stream, however many they are. */
export async function missingArtifacts(
  { jsm }: Jets,
  refs: readonly ArtifactRef[],
): Promise<ReadonlySet<string>> {
  if (refs.length === 0) return new Set();
  const info = await jsm.streams.info(ARTIFACT_STREAM, { subjects_filter: hubSubjects.artifacts });
  const there = info.state.subjects ?? {};
  const missing = refs.filter(
    (ref) => there[hubSubjects.artifactChunk(ref.name, ref.chunks - 1)] === undefined,
  );
  return new Set(missing.map((ref) => ref.name));
}

/** Names of all artifacts on the broker, whole or in part. */
export async function listArtifacts({ jsm }: Jets): Promise<ReadonlySet<string>> {
  const info = await jsm.streams.info(ARTIFACT_STREAM, { subjects_filter: hubSubjects.artifacts });
  return new Set(Object.keys(info.state.subjects ?? {}).map((subject) => subject.split('.')[1] ?? ''));
}

/** Takes an artifact off the broker. */
export const purgeArtifact = async ({ jsm }: Jets, name: string): Promise<void> => {
  await jsm.streams.purge(ARTIFACT_STREAM, { filter: hubSubjects.artifactOf(name) });
};

/** Stores an artifact unless it is there. Its name is the hash of its bytes, so writing one twice changes nothing. */
export async function uploadArtifact(jets: Jets, { ref, stored }: Sealed): Promise<void> {
  if (await hasArtifact(jets, ref)) return;
  const chunks = chunksOf(stored);
  const body = chunks.slice(0, -1);
  for (let start = 0; start < body.length; start += WINDOW) {
    const batch = body.slice(start, start + WINDOW);
    await Promise.all(batch.map((data, n) => put(jets, ref, { chunk: start + n, data })));
  }
  await put(jets, ref, { chunk: chunks.length - 1, data: chunks.at(-1)! });
}

const put = (
  { js }: Jets,
  ref: ArtifactRef,
  { chunk, data }: { readonly chunk: number; readonly data: Uint8Array },
): Promise<unknown> => js.publish(hubSubjects.artifactChunk(ref.name, chunk), data);
