import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { tempFolder } from '../../harness/temp.ts';
import { runTowline } from './run.ts';

const help = (env: NodeJS.ProcessEnv) =>
  runTowline(['affected', '--help'], undefined, { PATH: process.env['PATH'], ...env });

test('a command that people wait for keeps what was compiled of it in their cache folder', async (t) => {
  const home = await tempFolder(t, 'home');
  const { code, output } = await help({ HOME: home });
  assert.equal(code, 0);
  assert.notDeepEqual(await readdir(join(home, '.cache/towline/compiled')), []);
  assert.deepEqual(await help({ HOME: home }), { code, output });
});

test('the cache folder of the settings wins over the home', async (t) => {
  const [home, cache] = [await tempFolder(t, 'home'), await tempFolder(t, 'cache')];
  assert.equal((await help({ HOME: home, XDG_CACHE_HOME: cache })).code, 0);
  assert.deepEqual(await readdir(home), []);
  assert.deepEqual(await readdir(join(cache, 'towline')), ['compiled']);
});

for (const home of [undefined, 'relative', '/proc/none', '/dev/null'])
  test(`the command runs as well without a cache, where the home is ${home}`, async () => {
    const { code, output } = await help(home === undefined ? {} : { HOME: home });
    assert.equal(code, 0);
    assert.match(output, /^Usage: towline affected/);
  });
