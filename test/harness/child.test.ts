import assert from 'node:assert/strict';
import test from 'node:test';
import { startChild } from './child.ts';
import { until } from './until.ts';

const node = process.execPath;

test('a child tells its output and exit code', async (t) => {
  const args = ['-e', 'console.log("out"); console.error("err"); process.exitCode = 3'];
  const child = startChild(t, { program: node, args });
  assert.equal(await until('the end', () => child.exit()), 3);
  await child.stop('SIGKILL');
  assert.equal(child.pid(), undefined);
  assert.deepEqual(child.output().trim().split('\n').sort(), ['err', 'out']);
});

test('a child is killed with its owner', async (t) => {
  let pid = 0;
  await t.test('inner', async (inner) => {
    const child = startChild(inner, { program: node, args: ['-e', 'setInterval(() => {}, 1000)'] });
    pid = await until('a process', () => child.pid());
  });
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('a program that does not exist has ended with 127', async (t) => {
  const child = startChild(t, { program: '/no/such/program', args: [] });
  assert.match(await until('an error', () => child.output() || undefined), /ENOENT/);
  assert.equal(child.exit(), 127);
});
