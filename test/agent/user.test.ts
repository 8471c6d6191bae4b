/** Runs as another user: what they can reach, and what not. Needs root. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, chown, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Owner } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { testTools } from '../harness/tools.ts';
import { jobOf, makeBed, nodeProgram, runOnce } from './bed.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };

const BODY = `
const fs = require('node:fs');
const path = require('node:path');
const attempt = (what: string, act: () => unknown) => { try { act(); console.log('OPEN', what); } catch (error: any) { console.log('closed', what, error.code); } };
const data = DATA;
attempt('ledger', () => fs.readFileSync(path.join(data, 'ledger.json')));
for (const name of ['artifacts', 'successes', 'holders', 'runs']) attempt(name, () => fs.readdirSync(path.join(data, name)));
attempt('private', () => fs.readFileSync(path.resolve('../private.json')));
attempt('agent environment', () => fs.readFileSync('/proc/' + AGENT + '/environ'));
attempt('cache', () => fs.writeFileSync(path.join(fs.realpathSync('node_modules'), '@pulumi/pulumi/index.js'), 'evil'));
attempt('cache folder', () => fs.mkdirSync(path.join(data, 'dependencies', 'evil')));
console.log('uid', process.getuid!(), 'groups', process.getgroups!().join());
new Thing('a', { path: path.join(DATA, '../state/out'), content: 'x' });
`;

const isRoot = process.getuid?.() === 0;
const reachesNode = (): boolean => spawnSync(process.execPath, ['--version'], NOBODY).status === 0;

/** The CLI and what lies beside it, in a place that every user reaches. */
async function toolsInReach(owner: Owner): Promise<string> {
  const { pulumi } = await testTools();
  const folder = await tempFolder(owner, 'tools');
  await chmod(folder, 0o755);
  for (const name of await readdir(dirname(pulumi)))
    if (name.startsWith('pulumi')) {
      await copyFile(join(dirname(pulumi), name), join(folder, name));
      await chmod(join(folder, name), 0o755);
    }
  return join(folder, 'pulumi');
}

const skip = !isRoot ? 'needs root' : !reachesNode() ? 'this node is out of reach for other users' : false;

test('a run user reaches its own run and nothing else of the agent', { skip }, async (t) => {
  const bed = await makeBed(t, { runUser: NOBODY, pulumi: await toolsInReach(t) });
  // the way to the backend must be open for runs, as it is on any machine with such a user
  await chmod(bed.folder, 0o755);
  await chown(join(bed.folder, 'state'), NOBODY.uid, NOBODY.gid);
  await writeFile(join(bed.dataDir, 'ledger.json'), '{}', { mode: 0o600 });
  const body = `const DATA = ${JSON.stringify(bed.dataDir)}; const AGENT = ${process.pid};\n${BODY}`;
  const order = await bed.order(await nodeProgram(body));
  const first = await runOnce(bed.executor, jobOf(order));
  assert.equal(first.end.result, 'succeeded', `${first.end.reason.text}\n${first.lines.join('\n')}`);
  const text = first.lines.join('\n');
  assert.match(text, /uid 65534 groups 65534/);
  assert.ok(!text.includes('OPEN'), text);
  assert.equal(text.match(/closed \w+/g)?.length, 18, text);
  assert.equal(await readFile(join(bed.folder, 'state/out'), 'utf8'), 'x');
  const second = await runOnce(bed.executor, jobOf(order, { first: false }));
  assert.equal(second.end.result, 'succeeded', second.end.reason.text);
});
