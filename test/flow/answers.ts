/** Every answer of the API, by its own description, so that a route that is added is asked as well. */
import assert from 'node:assert/strict';
import type { CommitAnswer } from '../../hub/api/schemas.ts';
import type { Reader } from './reader.ts';

export interface Answered {
  readonly url: string;
  readonly text: string;
}

type Values = Readonly<Record<string, string | undefined>>;

/** All routes for each placement, run and commit. A route with a parameter that is not known here is an error. */
export async function everyAnswer(reader: Reader): Promise<readonly Answered[]> {
  const { paths } = await reader.get<{ paths: Readonly<Record<string, unknown>> }>('/openapi.json');
  const places = await placesOf(reader);
  const urls = Object.keys(paths).flatMap((path) => places.map((values) => fill(path, values)));
  return Promise.all(
    [...new Set(urls)].map(async (url) => ({
      url,
      text: url === '/v1/events' ? await eventsOf(reader) : await reader.text(url),
    })),
  );
}

/** All events that are kept. */
async function eventsOf(reader: Reader): Promise<string> {
  const hello = await readUntil(reader, undefined, () => true);
  const [, start, last] = /^id: ([^.\n]+)\.(\d+)$/m.exec(hello) ?? [];
  assert.ok(Number(last) > 0, hello);
  return readUntil(reader, `${start}.0`, (text) => text.includes(`id: ${start}.${last}\n`));
}

async function readUntil(
  { base }: Reader,
  after: string | undefined,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const signal = AbortSignal.timeout(10_000);
  const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after };
  const { body } = await fetch(`${base}/v1/events`, { headers, signal });
  let text = '';
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (isEnough(text)) break;
  }
  return text;
}

/** What parameters may be, one combination each. */
async function placesOf(reader: Reader): Promise<readonly Values[]> {
  const commits = (await reader.get<{ items: CommitAnswer[] }>('/v1/commits')).items;
  const places: Values[] = [];
  for (const { cluster, namespace, name } of await reader.placements()) {
    const runs = await reader.runs({ cluster, namespace, name });
    assert.ok(runs.length > 0 && commits.length > 0);
    for (const { runId } of runs)
      for (const { id } of commits) places.push({ cluster, namespace, name, run: runId, commit: id });
  }
  return places;
}

function fill(path: string, values: Values): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[path.startsWith('/v1/clusters/') && name === 'name' ? 'cluster' : name];
    assert.ok(value, `nothing is known for {${name}} of ${path}`);
    return value;
  });
  return path.endsWith('/why') ? `${filled}?commit=${values['commit']}` : filled;
}
