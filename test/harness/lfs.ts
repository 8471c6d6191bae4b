/** A server of Git LFS on the loopback: its batch API, and the contents. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface LfsServer {
  /** Answers what comes to `BASE/objects/batch` and `BASE/content/OID`. */
  readonly handler: RequestListener;
  /** Requests since the start: `batch OID` and `content OID`. */
  readonly requests: readonly string[];
  /** Keeps a content; answers with its pointer. */
  add(content: string | Buffer): string;
  /** Gives something else out for a content. */
  spoil(content: string | Buffer, instead: string): void;
  /** From now on holds contents back until this is called off. */
  hold(): () => void;
}

const MIME = 'application/vnd.git-lfs+json';

const oidOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** Nothing is kept yet. `base`: the address of the endpoint. */
export function makeLfs(base: string): LfsServer {
  const contents = new Map<string, Buffer>();
  const requests: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const batch = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = JSON.parse(await text(incoming)) as { objects: { oid: string; size: number }[] };
    requests.push(...asked.objects.map(({ oid }) => `batch ${oid}`));
    const objects = asked.objects.map(({ oid, size }) =>
      contents.has(oid)
        ? { oid, size, actions: { download: { href: `${base}/content/${oid}` } } }
        : { oid, size, error: { code: 404, message: 'Object does not exist' } },
    );
    response.writeHead(200, { 'content-type': MIME }).end(JSON.stringify({ transfer: 'basic', objects }));
  };
  const handler: RequestListener = (incoming, response) => {
    if (incoming.method === 'POST') return void batch(incoming, response);
    const oid = (incoming.url ?? '').split('/').at(-1) ?? '';
    requests.push(`content ${oid}`);
    void held.then(() => response.writeHead(200).end(contents.get(oid)));
  };
  return {
    handler,
    requests,
    add(content) {
      const bytes = Buffer.from(content);
      contents.set(oidOf(bytes), bytes);
      return `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(bytes)}\nsize ${bytes.length}\n`;
    },
    spoil: (content, instead) => void contents.set(oidOf(content), Buffer.from(instead)),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
  };
}
