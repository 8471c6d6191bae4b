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

const TOOLS = `
const { spawnSync } = require('node:child_process');
for (const command of ['ls ../..', 'cat ../../README.md', 'ls ../../services', 'cat ../../services/a.json', 'cat own.txt']) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
  console.log('tool', command, '->', status === 0 ? stdout.trim() : /Permission denied/.test(stderr) ? 'denied' : stderr);
}
if (FAIL) throw new Error(spawnSync('/bin/cat', ['../../README.md'], { encoding: 'utf8' }).stderr);
`;

test('modes keep every program of a run user from what is not declared', { skip }, async (t) => {
  const bed = await makeBed(t, { runUser: NOBODY, pulumi: await toolsInReach(t) });
  await chmod(bed.folder, 0o755);
  await chown(join(bed.folder, 'state'), NOBODY.uid, NOBODY.gid);
  const surroundings = { '.': { undeclared: ['README.md', 'services/'] } };
  const once = async (fails: boolean, first: boolean) => {
    const own = await nodeProgram(`const FAIL = ${fails};\n${TOOLS}`);
    const files = Object.fromEntries(
      Object.entries(own).map(([name, text]) => [`apps/web/${name}`, text] as const),
    );
    const order = await bed.order(
      { ...files, 'apps/web/own.txt': 'mine' },
      { inputs: { project: 'apps/web' }, surroundings },
    );
    return runOnce(bed.executor, jobOf(order, { first }));
  };
  const { end, lines } = await once(false, true);
  assert.equal(end.result, 'succeeded', `${end.reason.text}\n${lines.join('\n')}`);
  const said = lines.flatMap((line) => /tool (.*)/.exec(line)?.[1] ?? []);
  // Pulumi prints them once more at its end
  assert.deepEqual(said.slice(0, 5), [
    'ls ../.. -> denied',
    'cat ../../README.md -> denied',
    'ls ../../services -> denied',
    'cat ../../services/a.json -> denied',
    'cat own.txt -> mine',
  ]);
  const failing = await once(true, false);
  assert.equal(failing.end.failure, 'Config', failing.end.reason.text);
  assert.match(
    failing.end.reason.text,
    /README\.md is in the repository.*add "\/README\.md" to source\.include/,
  );
});
