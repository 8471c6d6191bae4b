/** The HTTP client for questions about refs: connections stay open between polls, answers are bounded. */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { limits } from '../../shared/limits.ts';
import { httpFailure, retryAfterMs, type Failure } from './failure.ts';
import { quietUntil } from './patience.ts';

/** An answer that is not a success, as a failure of the source. */
export class HttpRefusal extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export interface RefsClient extends HttpClient {
  /** Where on its host the server redirects questions about a repository to; undefined: nowhere. */
  landed(url: string): string | undefined;
  close(): void;
}

/** Hears until when the host wants to be left alone, ms. */
export type OnQuiet = (until: number) => void;

/** Addresses that one answer may lead to in turn. */
export const REDIRECTS = 5;
/** A connection that the server had closed in the meantime says so with one of these. */
const STALE = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Asks one remote. What the server can do (protocol 2) is kept from the first answer, so that a poll is one request; it
 * is asked again after a failure.
 */
export function makeRefsClient(signal: AbortSignal, onQuiet: OnQuiet = () => undefined): RefsClient {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true }),
    'https:': new HttpsAgent({ keepAlive: true }),
  };
  const capabilities = new Map<string, Received>();
  const ask = async ({ url, method = 'GET', headers = {}, body }: GitHttpRequest): Promise<Received> => {
    const request: SentRequest = { url: new URL(url), method, headers, body: await bytesOf(body) };
    const received = await follow(request, agents, { signal, onQuiet });
    if (method === 'GET' && received.bytes.includes(VERSION_2)) capabilities.set(url, received);
    if (method !== 'GET' && !received.bytes.subarray(-FLUSH.length).equals(FLUSH))
      throw new Error('the server’s answer about refs is cut off');
    return received;
  };
  return {
    async request(request: GitHttpRequest): Promise<GitHttpResponse> {
      const known = request.method === 'GET' ? capabilities.get(request.url) : undefined;
      try {
        const { bytes, ...head } = known ?? (await ask(request));
        return { ...head, body: once(bytes) };
      } catch (error) {
        capabilities.clear();
        throw error;
      }
    },
    landed(url) {
      const asked = `${url}${QUESTION}`;
      const end = capabilities.get(asked)?.url ?? asked;
      const moved = end !== asked && end.endsWith(QUESTION) && new URL(end).origin === new URL(url).origin;
      return moved ? end.slice(0, -QUESTION.length) : undefined;
    },
    close: () => Object.values(agents).forEach((agent) => agent.destroy()),
  };
}

const QUESTION = '/info/refs?service=git-upload-pack';

/** Begins the list of what a server can do. */
const VERSION_2 = Buffer.from('version 2\n');
/** Ends every whole answer: without it, a ref that is not listed may exist all the same. */
const FLUSH = Buffer.from('0000');

type Received = Omit<GitHttpResponse, 'body'> & { readonly bytes: Buffer };

interface Around {
  readonly signal: AbortSignal;
  readonly onQuiet: OnQuiet;
}

async function follow(request: SentRequest, agents: Agents, { signal, onQuiet }: Around): Promise<Received> {
  let sent = request;
  for (let hops = 0; ; hops++) {
    const response = await exchange(sent, agents, signal);
    const until = quietUntil(response.headers, Date.now());
    // What another host asks for, to which a redirect leads, is not about this one.
    if (until !== undefined && sent.url.host === request.url.host) onQuiet(until);
    const bytes = await collect(response);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (status >= 300 && status < 400 && location !== undefined && hops < REDIRECTS) {
      sent = redirected(sent, location);
      continue;
    }
    if (status !== 200)
      throw new HttpRefusal(httpFailure(status, retryAfterMs(response.headers['retry-after'], Date.now())));
    const headers = plainHeaders(response.headers);
    const statusMessage = response.statusMessage ?? '';
    return { url: sent.url.href, method: sent.method, headers, bytes, statusCode: status, statusMessage };
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** One request, as it goes to a server. */
export interface SentRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Agents {
  readonly 'http:': HttpAgent;
  readonly 'https:': HttpsAgent;
}

/** Asks once more when a kept connection turns out to be closed: both requests only read. */
async function exchange(request: SentRequest, agents: Agents, signal: AbortSignal): Promise<IncomingMessage> {
  try {
    return await exchangeOnce(request, agents, signal);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    return exchangeOnce(request, agents, signal);
  }
}

class StaleConnection extends Error {}

function exchangeOnce(
  { url, method, headers, body }: SentRequest,
  agents: Agents,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const options = {
    method,
    headers: {
      'user-agent': 'git/towline',
      ...headers,
      ...(method === 'GET' ? {} : { 'content-length': body.length }),
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.refsTimeoutMs)]),
  };
  return new Promise((resolve, reject) => {
    const sent = secure
      ? httpsRequest(url, { ...options, agent: agents['https:'] }, resolve)
      : httpRequest(url, { ...options, agent: agents['http:'] }, resolve);
    sent.on('error', (error: NodeJS.ErrnoException) =>
      reject(sent.reusedSocket && STALE.has(error.code ?? '') ? new StaleConnection(error.message) : error),
    );
    sent.end(method === 'GET' ? undefined : body);
  });
}

/** Where a server sends a request on to: never from https to http, and credentials never to another host. */
export function redirected(request: SentRequest, location: string): SentRequest {
  const url = new URL(location, request.url);
  if (url.protocol !== request.url.protocol && url.protocol !== 'https:')
    throw new Error(`the server redirects to ${url.protocol}//${url.host}, which is not followed`);
  if (url.host === request.url.host && url.protocol === request.url.protocol) return { ...request, url };
  const headers = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...request, url, headers: Object.fromEntries(headers) };
}

async function collect(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limits.refsBytes)
      throw new Error(`the server's list of refs is larger than ${limits.refsBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function bytesOf(body: GitHttpRequest['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  if (body !== undefined) for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const plainHeaders = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
