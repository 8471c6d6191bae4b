import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { startBroker, type Broker } from '../../../deploy/local/broker.ts';
import { supervise, type Child } from '../../../deploy/local/child.ts';
import { foldersOf, type Folders } from '../../../deploy/local/folders.ts';
import { freePort } from '../../../deploy/local/input.ts';
import { hubKeys } from '../../../deploy/local/keys.ts';
import { makeUserKey, type NatsConnection } from '../../../shared/nats.ts';
import { agentSubjects, hubSubjects } from '../../../shared/subjects.ts';
import { connectTo } from '../../harness/client.ts';
import { atEnd } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { testTools } from '../../harness/tools.ts';
import { until } from '../../harness/until.ts';

interface Started {
  readonly broker: Broker;
  readonly server: Child;
  readonly folders: Folders;
  connect(seed: string): Promise<NatsConnection>;
}

async function start(context: TestContext): Promise<Started> {
  const folders = foldersOf(await tempFolder(context));
  const hubKey = await hubKeys(folders);
  const port = await freePort();
  const { natsServer } = await testTools();
  let server: Child | undefined;
  const broker = await startBroker(
    { folders, port, hubKey, program: natsServer, environment: process.env },
    (program) => {
      server = supervise(program, () => undefined);
      atEnd(context, async () => void (await server?.stop(5_000)));
      return server;
    },
    context.signal,
  );
  assert.ok(server !== undefined);
  const connect = async (seed: string): Promise<NatsConnection> =>
    (await connectTo(context, `nats://127.0.0.1:${port}`, { seed: seed.trim() })).connection;
  return { broker, server, folders, connect };
}

const answers = (agent: NatsConnection): Promise<boolean> =>
  agent
    .request(agentSubjects.hello, 'hello', { timeout: 1_000 })
    .then((message) => message.string() === 'welcome');

test('accounts come while the server runs, also right after it was killed', async (context) => {
  const { broker, server, folders, connect } = await start(context);
  const hub = await connect(await readFile(folders.hubSeed, 'utf8'));
  hub.subscribe(hubSubjects.hellos, { callback: (_error, message) => void message.respond('welcome') });
  const [harbour, quay] = [makeUserKey(), makeUserKey()];

  await broker.admit([{ account: 'harbour', publicKey: harbour.publicKey }], context.signal);
  const first = await connect(harbour.seed);
  await until('harbour’s imports', () => answers(first));

  process.kill(server.pid() ?? 0, 'SIGKILL');
  const both = [
    { account: 'harbour', publicKey: harbour.publicKey },
    { account: 'quay', publicKey: quay.publicKey },
  ];
  await broker.admit(both, context.signal);
  const second = await connect(quay.seed);
  await until('quay’s imports', () => answers(second));
  await until('harbour’s imports again', () => answers(first));
});

test('the keys of the hub are made once and only their owner reads them', async (context) => {
  const folders = foldersOf(await tempFolder(context));
  const first = await hubKeys(folders);
  assert.equal(await hubKeys(folders), first);
  for (const file of [folders.hubSeed, folders.hubSecret]) assert.equal((await stat(file)).mode & 0o077, 0);
  assert.ok((await readFile(folders.hubSecret)).length >= 32);
});
