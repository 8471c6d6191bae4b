import assert from 'node:assert/strict';
import test from 'node:test';
import { makeUserKey, publishExpecting } from '../../shared/nats.ts';
import { connectTo, type Client } from './client.ts';
import { plainConfig, startNats } from './nats.ts';

test('a killed nats-server comes back on its port with what it acknowledged', async (t) => {
  const key = makeUserKey();
  const users = `authorization { users: [{ nkey: ${key.publicKey} }] }\n`;
  const server = await startNats(t, { config: (store) => plainConfig(store) + users });
  const open = (): Promise<Client> => connectTo(t, server.url, { seed: key.seed });
  const before = await open();
  await before.jsm.streams.add({ name: 'S', subjects: ['s.>'] });
  await publishExpecting(before.js, 's.a', { data: new Uint8Array([1]), expect: { lastSequence: 0 } });
  const first = server.pid();

  await server.stop('SIGKILL');
  assert.equal(server.pid(), undefined);
  await server.start();

  assert.notEqual(server.pid(), first);
  const after = await open();
  assert.equal((await after.jsm.streams.info('S')).state.messages, 1);
});

test('a running nats-server takes a new configuration, or the test hears why not', async (t) => {
  const server = await startNats(t);
  await server.reload(`${plainConfig(server.storeFolder)}max_payload: 4194304\n`);
  assert.match(server.log(), /max_payload = 4194304/);
  await assert.rejects(server.reload('nonsense {'), /refuses the configuration/);
});

test('a nats-server with a bad configuration fails at once and says why', async (t) => {
  await assert.rejects(startNats(t, { config: () => 'no_such_option: 1' }), /no_such_option/);
});

test('only one nats-server runs at a time', async (t) => {
  const server = await startNats(t);
  await assert.rejects(server.start(), /runs already/);
});
