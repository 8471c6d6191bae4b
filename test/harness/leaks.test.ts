import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'node:test';
import { added, watchLeaks } from './leaks.ts';
import type { Owner } from './owned.ts';

/** An owner whose end the test brings about itself. */
function makeOwner(): Owner & { end(): Promise<void> } {
  let release: () => Promise<void> = async () => undefined;
  return { after: (given) => (release = given), end: () => release() };
}

const SHORT_MS = 50;
const SLEEP_FOR_EVER = 'setInterval(() => {}, 1000)';

test('a test that leaves nothing passes', async () => {
  const owner = makeOwner();
  watchLeaks(owner);
  await owner.end();
});

test('a test that leaves a server fails', async () => {
  const owner = makeOwner();
  watchLeaks(owner, SHORT_MS);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  await assert.rejects(owner.end(), /leave nothing behind.*TCPServerWrap/s);
  server.close();
});

test('a test that leaves a timer fails', async () => {
  const owner = makeOwner();
  watchLeaks(owner, SHORT_MS);
  const timer = setInterval(() => undefined, 1000);
  await assert.rejects(owner.end(), /Timeout/);
  clearInterval(timer);
});

test('a test that leaves a process fails, even one that left its session and parent', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  const owner = makeOwner();
  watchLeaks(owner, SHORT_MS);
  const program = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', '${SLEEP_FOR_EVER}'], { detached: true, stdio: 'ignore' });
    child.unref();
    console.log(child.pid);`;
  const parent = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [text] = (await once(parent.stdout, 'data')) as [Buffer];
  await once(parent, 'exit');
  const pid = Number(String(text));
  await assert.rejects(owner.end(), new RegExp(`${pid} .*node.*setInterval`, 's'));
  process.kill(pid, 'SIGKILL');
});

test('what there is more of is counted', () => {
  assert.deepEqual(added(['Timeout', 'PipeWrap'], ['PipeWrap', 'Timeout', 'Timeout']), ['Timeout']);
  assert.deepEqual(added(['Timeout'], []), []);
});
