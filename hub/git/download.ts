/** One POST to a Git server whose answer is a stream, with an end to patience. Inside the thread. */
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Obtain } from './calls.ts';
import { httpFailure, retryAfterMs } from './failure.ts';
import { HttpRefusal, redirected, REDIRECTS, type SentRequest } from './http.ts';

/** The bytes of the answer. Throws {@link HttpRefusal} for a refusal, else an Error in words for people. */
export async function* exchangeBody(call: Obtain, body: Buffer): AsyncGenerator<Buffer, void, undefined> {
  const stop = new AbortController();
  const pace = watchPace(call, () => stop.abort());
  try {
    const response = await follow(call, body, stop.signal);
    for await (const chunk of response as AsyncIterable<Buffer>) {
      pace.saw(chunk.length);
      yield chunk;
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    const seconds = Math.round(call.stallMs / 1_000);
    throw new Error(`the server sent fewer than ${call.slowBytes} bytes in ${seconds} s`, { cause: error });
  } finally {
    pace.end();
    stop.abort();
  }
}

interface Pace {
  saw(bytes: number): void;
  end(): void;
}

/** Counts in windows: a server that sends a byte now and then is as good as silent. */
function watchPace({ stallMs, slowBytes }: Obtain, onSlow: () => void): Pace {
  let bytes = 0;
  const timer = setInterval(() => {
    if (bytes < slowBytes) onSlow();
    bytes = 0;
  }, stallMs);
  return { saw: (more) => void (bytes += more), end: () => clearInterval(timer) };
}

async function follow(call: Obtain, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = {
    'user-agent': 'git/towline',
    'content-type': 'application/x-git-upload-pack-request',
    accept: 'application/x-git-upload-pack-result',
    ...(call.authorization === undefined ? {} : { authorization: call.authorization }),
  };
  let sent: SentRequest = { url: new URL(`${call.url}/git-upload-pack`), method: 'POST', headers, body };
  for (let hops = 0; ; hops++) {
    const response = await send(sent, signal);
    const status = response.statusCode ?? 0;
    if (status === 200) return response;
    response.resume();
    const { location } = response.headers;
    if (status < 300 || status >= 400 || location === undefined || hops === REDIRECTS)
      throw new HttpRefusal(httpFailure(status, retryAfterMs(response.headers['retry-after'], Date.now())));
    sent = redirected(sent, location);
  }
}

function send({ url, method, headers, body }: SentRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const ask = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const options = {
    method,
    headers: { ...headers, 'content-length': body.length },
    signal,
    agent: false as const,
  };
  return new Promise((resolve, reject) => {
    ask(url, options, resolve).on('error', reject).end(body);
  });
}
