import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimFolder } from '../../shared/pidfile.ts';
import { identityOf } from '../../shared/process.ts';
import { tempFolder } from '../harness/temp.ts';

test('a folder belongs to one, until it lets go', async (context) => {
  const folder = join(await tempFolder(context), 'state');
  const first = await claimFolder(folder);
  assert.ok(first.kind === 'held');
  assert.deepEqual(await claimFolder(folder), { kind: 'taken', pid: process.pid });
  await first.release();
  const second = await claimFolder(folder);
  assert.ok(second.kind === 'held');
  await first.release();
  assert.equal(
    (await claimFolder(folder)).kind,
    'taken',
    'a second release takes nothing from the next holder',
  );
  await second.release();
  assert.equal((await readdir(folder)).length, 1, 'nothing piles up');
});

const dead = { startTime: '1', bootId: 'another boot' };
for (const [name, content] of [
  ['a pid that is in use again', JSON.stringify({ pid: process.pid, ...dead })],
  ['a process of another boot', JSON.stringify({ ...identityOf(process.pid), bootId: dead.bootId })],
  ['a pid that is not there', JSON.stringify({ pid: 2 ** 22 + 1, ...dead })],
  ['a file cut short', '{"pid":'],
  ['an empty file', ''],
] as const) {
  test(`${name} is taken over`, async (context) => {
    const folder = await tempFolder(context);
    await writeFile(join(folder, 'process.1.lock'), content);
    const claim = await claimFolder(folder);
    assert.equal(claim.kind, 'held');
    assert.equal(
      (JSON.parse(await readFile(join(folder, 'process.2.lock'), 'utf8')) as { pid: number }).pid,
      process.pid,
    );
  });
}

test('many at once over a dead holder: one gets it', async (context) => {
  const folder = await tempFolder(context);
  await writeFile(join(folder, 'process.1.lock'), JSON.stringify({ pid: process.pid, ...dead }));
  const claims = await Promise.all(Array.from({ length: 20 }, () => claimFolder(folder)));
  assert.equal(claims.filter((claim) => claim.kind === 'held').length, 1);
});

test('what a killed process held is free', async (context) => {
  const folder = await tempFolder(context);
  const program = join(folder, 'hold.ts');
  const module = new URL('../../shared/pidfile.ts', import.meta.url).href;
  await writeFile(
    program,
    `import { claimFolder } from ${JSON.stringify(module)};
     process.send?.((await claimFolder(process.argv[2])).kind);
     setInterval(() => undefined, 1000);`,
  );
  const held = join(folder, 'held');
  const child = fork(program, [held]);
  context.after(() => child.kill('SIGKILL'));
  assert.deepEqual((await once(child, 'message'))[0], 'held');
  assert.deepEqual(await claimFolder(held), { kind: 'taken', pid: child.pid });
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal((await claimFolder(held)).kind, 'held');
});
