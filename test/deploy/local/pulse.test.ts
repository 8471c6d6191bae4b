import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { makePulse, type Pulse } from '../../../deploy/local/pulse.ts';
import { atEnd } from '../../harness/owned.ts';
import { until } from '../../harness/until.ts';

/** Longer than any test. */
const EVER = 600_000;

interface Hub {
  readonly pulse: Pulse;
  readonly signal: AbortSignal;
  /** Sends to everybody who listens. */
  send(text: string): Promise<void>;
  /** Cuts all connections. */
  cut(): void;
}

async function startHub(context: TestContext): Promise<Hub> {
  const listeners = new Set<ServerResponse>();
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    listeners.add(response);
    response.on('close', () => listeners.delete(response));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const over = new AbortController();
  atEnd(context, () => {
    over.abort();
    server.closeAllConnections();
    server.close();
  });
  const pulse = makePulse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, over.signal);
  const send = async (text: string): Promise<void> => {
    await until('a listener', () => listeners.size > 0);
    for (const response of listeners) response.write(text);
  };
  const cut = (): void => {
    listeners.clear();
    server.closeAllConnections();
  };
  return { pulse, signal: over.signal, send, cut };
}

const EVENT = 'event: commit\ndata: {}\n\n';

test('an event ends the wait of everybody, a comment of nobody', async (context) => {
  const { pulse, signal, send } = await startHub(context);
  const [one, other] = [pulse.waiter(), pulse.waiter()];
  let ended = 0;
  const waits = [one, other].map(async (wait) => {
    await wait(EVER, signal);
    ended += 1;
  });
  await send(': still here\n\n');
  assert.equal(ended, 0);
  await send(EVENT);
  await Promise.all(waits);
});

test('what happens between two waits is not missed, and not told twice', async (context) => {
  const { pulse, signal, send } = await startHub(context);
  const wait = pulse.waiter();
  const others = pulse.waiter()(EVER, signal);
  await send(EVENT);
  await others;
  await wait(EVER, signal);
  await wait(1, signal);
});

test('a hub that starts again is heard again', async (context) => {
  const { pulse, signal, send, cut } = await startHub(context);
  const wait = pulse.waiter();
  await send(EVENT);
  await wait(EVER, signal);
  cut();
  const again = wait(EVER, signal);
  await send(EVENT);
  await again;
});

test('without events the longest wait ends it, and so does the signal', async (context) => {
  const { pulse } = await startHub(context);
  const wait = pulse.waiter();
  await wait(1, new AbortController().signal);
  await wait(EVER, AbortSignal.abort());
});
