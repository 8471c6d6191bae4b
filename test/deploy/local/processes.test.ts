import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { claimFleet, FolderTaken } from '../../../deploy/local/processes.ts';
import { startChild } from '../../harness/child.ts';
import { tempFolder } from '../../harness/temp.ts';
import { until } from '../../harness/until.ts';

const module = pathToFileURL(join(import.meta.dirname, '../../../deploy/local/processes.ts')).href;

/** A program that claims the folder as another fleet would, with `pid` as its child. */
const owner = (folder: string, pid: number): string => `
  import { claimFleet } from ${JSON.stringify(module)};
  const processes = await claimFleet(${JSON.stringify(folder)}, () => undefined);
  await processes.add('agent', ${pid});
  console.log('claimed');
  setInterval(() => undefined, 1000);
`;

test('what a killed fleet left is ended, but not while that fleet lives', async (context) => {
  const folder = await tempFolder(context);
  const leftover = startChild(context, { program: '/bin/sleep', args: ['60'] });
  const program = join(folder, 'owner.mjs');
  await writeFile(program, owner(folder, leftover.pid() ?? 0));
  const other = startChild(context, { program: process.execPath, args: [program] });
  await until('the claim', () => other.output().includes('claimed'));

  await assert.rejects(() => claimFleet(folder, () => undefined), FolderTaken);
  assert.notEqual(leftover.pid(), undefined);

  await other.stop('SIGKILL');
  const said: string[] = [];
  const processes = await claimFleet(folder, (text) => said.push(text));
  assert.equal(await until('its end', () => leftover.exit()), 'SIGTERM');
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /ending agent \(process \d+\)/);

  await processes.add('agent', process.pid);
  await processes.release();
  await claimFleet(folder, (text) => said.push(text));
  assert.equal(said.length, 1);
});

test('a process with a number of the record but another start is left alone', async (context) => {
  const folder = await tempFolder(context);
  const file = join(folder, 'processes.json');
  const processes = await claimFleet(folder, () => undefined);
  const stranger = startChild(context, { program: '/bin/sleep', args: ['60'] });
  await processes.add('agent', stranger.pid() ?? 0);
  const [header = '', body = ''] = (await readFile(file, 'utf8')).split('\n');
  const changed = body.replace(/("name":"agent","pid":\d+,"startTime":")\d+/, '$17');
  const sha256 = createHash('sha256').update(changed).digest('hex');
  await writeFile(file, `${JSON.stringify({ ...(JSON.parse(header) as object), sha256 })}\n${changed}\n`);
  await rm(join(folder, 'process.1.lock'));
  const said: string[] = [];
  await claimFleet(folder, (text) => said.push(text));
  assert.deepEqual(said, []);
  assert.notEqual(stranger.pid(), undefined);
});
