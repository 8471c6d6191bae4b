/** The agent is killed at every step between an order and its report; the next one brings it to rest. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AGENT_STEPS } from '../../../agent/steps.ts';
import { startChild, type Child } from '../../harness/child.ts';
import type { Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { until } from '../../harness/until.ts';
import { startHubSide, type HubSide } from '../hubside.ts';
import { CLUSTER, digest, INCARNATION, orderOf } from '../samples.ts';
import { script } from './agent.ts';

const hub = await startHubSide({ after });

async function startIn(owner: Owner, dataDir: string, step: string): Promise<Child> {
  const keyFile = join(dataDir, 'agent.seed');
  await writeFile(keyFile, hub.seed, { mode: 0o600 });
  const config = {
    cluster: CLUSTER,
    account: CLUSTER,
    name: 'agent',
    nats: [hub.server.url],
    keyFile,
    dataDir,
    incarnation: INCARNATION,
    allowEnv: [],
    allowFiles: [],
    pulumi: 'pulumi',
    onStop: 'leave',
    stopTimeoutMs: 0,
    logLevel: 'debug',
  };
  return startChild(owner, { program: process.execPath, args: [script, JSON.stringify(config), step] });
}

const startsIn = async (dataDir: string): Promise<readonly number[]> =>
  (await readFile(join(dataDir, 'world', 'starts'), 'utf8')).trim().split('\n').map(Number);

const killed = (child: Child, step: string): Promise<unknown> =>
  until(`the agent to die at ${step}`, () => {
    if (child.exit() === undefined) throw new Error(child.output());
    assert.equal(child.exit(), 'SIGKILL', child.output());
    return true;
  });

async function settled(side: HubSide, name: string, gen: number): Promise<void> {
  const report = await side.phase(name, 'Succeeded', gen);
  assert.equal(report.lastSuccess?.inputDigest, report.inputDigest);
  await until('a record of the run', async () =>
    (await side.runs()).some(({ stack }) => stack.name === name),
  );
  await until('every order to be acknowledged', async () => (await side.unacknowledged()) === 0);
}

for (const [index, step] of AGENT_STEPS.entries()) {
  test(`killed at ${step}: nothing is lost and nothing is repeated`, async (context) => {
    const dataDir = await tempFolder(context, 'crash');
    const order = orderOf({
      gen: 100 + index,
      stack: { namespace: 'apps', name: `at-${step.toLowerCase()}` },
    });
    const dying = await startIn(context, dataDir, step);
    await hub.publish(order);
    await killed(dying, step);
    const next = await startIn(context, dataDir, 'none');
    await settled(hub, order.stack.name, order.gen);
    await next.stop('SIGKILL');
    assert.deepEqual(await startsIn(dataDir), [order.gen]);
  });

  test(`killed at ${step}, and a newer order comes meanwhile: it is what comes to rest`, async (context) => {
    const dataDir = await tempFolder(context, 'crash');
    const order = orderOf({
      gen: 200 + index,
      stack: { namespace: 'apps', name: `new-${step.toLowerCase()}` },
    });
    const dying = await startIn(context, dataDir, step);
    await hub.publish(order);
    await killed(dying, step);
    await hub.publish({ ...order, gen: order.gen + 1_000, inputDigest: digest('b') });
    const next = await startIn(context, dataDir, 'none');
    await settled(hub, order.stack.name, order.gen + 1_000);
    await next.stop('SIGKILL');
    const starts = await startsIn(dataDir);
    assert.equal(starts.at(-1), order.gen + 1_000);
    assert.equal(new Set(starts).size, starts.length);
  });
}
