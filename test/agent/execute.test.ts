/** Whole runs with the real Pulumi CLI on a local backend. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tempFolder } from '../harness/temp.ts';
import { testTools } from '../harness/tools.ts';
import {
  jobOf,
  makeBed,
  nodeProgram,
  notReady,
  PASSPHRASE,
  runOnce,
  yamlProgram,
  type Bed,
  type TreeFiles,
} from './bed.ts';

/** A `pulumi` that counts how often it is started; the count is the number of lines of the file. */
async function counting(folder: string): Promise<string> {
  const { pulumi } = await testTools();
  const path = join(folder, 'pulumi');
  await writeFile(path, `#!/bin/sh\necho "$@" >>"${folder}/calls"\nexec "${pulumi}" "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

const callsIn = async (folder: string): Promise<string[]> =>
  (await readFile(join(folder, 'calls'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.split(' ').slice(0, 2).join(' '));

describe('a stack from nothing', () => {
  test('is made, run, and run again with one process', async (t) => {
    const folder = await tempFolder(t);
    const bed = await makeBed(t, { pulumi: await counting(folder) });
    const order = await bed.order(yamlProgram({ greeting: '${web:word}' }), {
      inputs: { config: { word: 'moin' } },
    });
    const first = await runOnce(bed.executor, jobOf(order));
    assert.equal(first.end.result, 'succeeded', first.end.reason.text);
    assert.ok(first.lines.includes('    greeting: "moin"'), first.lines.join('\n'));
    assert.match(first.end.encryptionSalt ?? '', /^v1:/);
    const salt = first.end.encryptionSalt;
    const again = jobOf(order, { first: false, ...(salt === undefined ? {} : { encryptionSalt: salt }) });
    const second = await runOnce(bed.executor, again);
    assert.deepEqual(second.end.changes, { create: 0, update: 0, delete: 0, replace: 0, same: 1 });
    assert.equal(second.end.encryptionSalt, salt);
    assert.deepEqual(await callsIn(folder), ['version', 'stack init', 'up --yes', 'up --yes']);
  });

  test('leaves only what is kept: the artifact and the order of the last success', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(yamlProgram());
    await runOnce(bed.executor, jobOf(order));
    assert.deepEqual(await readdir(join(bed.dataDir, 'runs')), []);
    assert.deepEqual(await readdir(join(bed.dataDir, 'artifacts')), [order.artifact.name]);
    assert.deepEqual(await readdir(join(bed.dataDir, 'successes')), ['test_shop_web.json']);
    const offline = bed.again({ fetchArtifact: () => Promise.reject(new Error('the hub is away')) });
    assert.equal((await runOnce(offline, jobOf(order, { first: false }))).end.result, 'succeeded');
  });

  test('is refused where the stack must be there already', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(yamlProgram(), { policy: { create: 'never' } });
    const verdict = await notReady(bed.executor, jobOf(order));
    assert.ok(verdict.kind === 'failed' && verdict.failure === 'Config', JSON.stringify(verdict));
    assert.deepEqual(await readdir(join(bed.dataDir, 'runs')), []);
  });
});

describe('a TypeScript program', () => {
  test('changes what it made, and says so', async (t) => {
    const bed = await makeBed(t);
    const out = join(bed.folder, 'out.txt');
    const program = (content: string) =>
      nodeProgram(`new Thing('a', { path: ${JSON.stringify(out)}, content: '${content}' });`);
    const first = await runOnce(bed.executor, jobOf(await bed.order(await program('one'))));
    assert.equal(first.end.result, 'succeeded', first.end.reason.text);
    assert.deepEqual(
      first.end.resources.map(({ op }) => op),
      ['create', 'create'],
    );
    assert.equal(await readFile(out, 'utf8'), 'one');
    const second = await runOnce(
      bed.executor,
      jobOf(await bed.order(await program('two')), { first: false }),
    );
    assert.deepEqual(
      second.end.resources.map(({ op }) => op),
      ['update'],
    );
    assert.equal(await readFile(out, 'utf8'), 'two');
  });

  test('that throws is a failure of the program, and says where', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(await nodeProgram(`throw new Error('no such luck');`));
    const { end } = await runOnce(bed.executor, jobOf(order));
    assert.equal(end.failure, 'Program');
    assert.match(end.reason.text, /unhandled exception|no such luck/);
  });

  test('whose resource fails is a failure of the provider, with its name', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(
      await nodeProgram(
        `new Thing('a', { path: ${JSON.stringify(join(bed.folder, 'x'))}, fail: 'AccessDenied' });`,
      ),
    );
    const { end } = await runOnce(bed.executor, jobOf(order));
    assert.equal(end.failure, 'Provider');
    assert.match(end.reason.text, /dynamic:Resource::a: .*AccessDenied/);
    assert.equal(end.changes.create, 1);
  });
});

describe('the first run on a stack that has something', () => {
  const thing = (bed: Bed, name: string, content = 'x'): string =>
    `new Thing('${name}', { path: ${JSON.stringify(join(bed.folder, name))}, content: '${content}' });\n`;

  test('is held when it would delete, and names what', async (t) => {
    const bed = await makeBed(t);
    await runOnce(bed.executor, jobOf(await bed.order(await nodeProgram(thing(bed, 'a') + thing(bed, 'b')))));
    const fewer = await bed.order(await nodeProgram(thing(bed, 'a')));
    const verdict = await notReady(bed.executor, jobOf(fewer));
    assert.equal(verdict.kind, 'hold');
    assert.equal(verdict.reason.code, 'WouldDelete');
    assert.deepEqual(verdict.reason.inputs, [
      { path: 'urn:pulumi:dev::web::pulumi-nodejs:dynamic:Resource::b', to: 'delete' },
    ]);
    assert.ok(existsSync(join(bed.folder, 'b')));
    const later = await runOnce(bed.executor, jobOf(fewer, { first: false }));
    assert.equal(later.end.changes.delete, 1);
    assert.ok(!existsSync(join(bed.folder, 'b')));
  });

  test('goes on when it only adds and changes', async (t) => {
    const bed = await makeBed(t);
    await runOnce(bed.executor, jobOf(await bed.order(await nodeProgram(thing(bed, 'a')))));
    const more = await bed.order(await nodeProgram(thing(bed, 'a', 'changed') + thing(bed, 'b')));
    const { end } = await runOnce(bed.executor, jobOf(more));
    assert.equal(end.result, 'succeeded', end.reason.text);
    assert.equal(bed.steps.filter((step) => step === 'prepared').length, 2);
  });
});

describe('config', () => {
  const show = `export const seen = { size: config.get('size'), word: config.get('word'), list: config.getObject('list'), secret: config.getSecret('password')?.apply((p) => p.length) };\nconsole.log('password is', config.get('password'));`;
  const stackFile: TreeFiles = { 'Pulumi.dev.yaml': 'config:\n  web:size: "1"\n  web:word: file\n' };

  test('comes from the file, then the order, then the allow-listed secrets, which Pulumi keeps secret', async (t) => {
    const bed = await makeBed(t, {
      environment: { ...process.env, TEST_PASSPHRASE: PASSPHRASE, PASSWORD: 'hunter2-hunter2' },
      allowEnv: ['TEST_PASSPHRASE', 'PASSWORD'],
    });
    const order = await bed.order(
      { ...(await nodeProgram(show)), ...stackFile },
      {
        inputs: {
          config: { word: 'order', 'web:list': [1, 'two'] },
          configSecrets: { password: { env: 'PASSWORD' } },
        },
      },
    );
    const { end, lines } = await runOnce(bed.executor, jobOf(order));
    assert.equal(end.result, 'succeeded', end.reason.text);
    const text = lines.join('\n');
    for (const shown of [
      'password is [secret]',
      'size  : "1"',
      'word  : "order"',
      '[1]: "two"',
      'secret: [secret]',
    ])
      assert.ok(text.includes(shown), `${shown} in\n${text}`);
    const state = await readFile(join(bed.folder, 'state/.pulumi/stacks/web/dev.json'), 'utf8');
    assert.ok(!state.includes('hunter2'));
  });

  test('a wrong passphrase, a contradiction, a missing file: refused before anything runs', async (t) => {
    const bed = await makeBed(t);
    await runOnce(bed.executor, jobOf(await bed.order(yamlProgram())));
    const salt = 'encryptionsalt: v1:1pxF+dIARa4=:v1:+9+w+Q4obSYAmByj:8wQ3ArX9s9CgCLX39zoGPFgOrm+8mw==\n';
    const rows: readonly (readonly [TreeFiles, Parameters<Bed['order']>[1], RegExp])[] = [
      [
        { 'Pulumi.dev.yaml': salt },
        { inputs: { configSecrets: { p: { env: 'TEST_PASSPHRASE' } } } },
        /not the one of this stack/,
      ],
      [{ 'Pulumi.dev.yaml': salt }, { inputs: { secretsProvider: 'awskms://k' } }, /provider is passphrase/],
      [{}, { inputs: { stackConfig: 'require' } }, /required and missing/],
      [{}, { inputs: { configSecrets: { p: { env: 'NOPE' } } } }, /configSecrets p/],
      [{}, { inputs: { project: '../x' } }, /leaves/],
      [{}, { inputs: { project: 'x' } }, /no Pulumi\.yaml in x/],
      [{}, { inputs: { backend: { url: 'file://~' } } }, /state would be lost/],
    ];
    for (const [files, change, why] of rows) {
      const verdict = await notReady(
        bed.executor,
        jobOf(await bed.order({ ...yamlProgram(), ...files }, change), { first: false }),
      );
      assert.ok(verdict.kind === 'failed' && verdict.failure === 'Config', JSON.stringify(verdict));
      assert.match(verdict.reason.text, why);
    }
  });

  test('a stack whose salt nobody remembers takes the one of its state', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(yamlProgram(), {
      inputs: { configSecrets: { p: { env: 'TEST_PASSPHRASE' } } },
    });
    const { end } = await runOnce(bed.executor, jobOf(order));
    const later = await runOnce(bed.executor, jobOf(order, { first: false }));
    assert.equal(later.end.result, 'succeeded', later.end.reason.text);
    assert.equal(later.end.encryptionSalt, end.encryptionSalt);
  });
});

test('an artifact that is not there yet is waited for, a hostile one is refused', async (t) => {
  const bed = await makeBed(t);
  const away = bed.again({ fetchArtifact: () => Promise.reject(new Error('503')) });
  const order = await bed.order(yamlProgram());
  const waiting = await notReady(away, jobOf(order));
  assert.ok(waiting.kind === 'wait' && waiting.reason.code === 'ArtifactUnavailable');
  const hostile = await bed.order({ ...yamlProgram(), out: { link: '/etc' } });
  const verdict = await notReady(bed.executor, jobOf(hostile));
  assert.ok(verdict.kind === 'failed' && verdict.failure === 'Config');
});

test('a gate that is abandoned has run nothing', async (t) => {
  const bed = await makeBed(t);
  const order = await bed.order(yamlProgram());
  const job = jobOf(order);
  const ready = await bed.executor.prepare(job, new AbortController().signal);
  assert.ok(ready.kind === 'ready');
  const gate = await ready.gate();
  await gate.abandon();
  await bed.executor.cleanup(job.runId);
  const state = await readFile(join(bed.folder, 'state/.pulumi/stacks/web/dev.json'), 'utf8');
  assert.ok(!state.includes('pulumi:pulumi:Stack'));
});

test('an aborted preparation leaves nothing', async (t) => {
  const stop = new AbortController();
  const bed = await makeBed(t, { at: (step) => (step === 'settings' ? stop.abort() : undefined) });
  const verdict = await bed.executor.prepare(jobOf(await bed.order(yamlProgram())), stop.signal);
  assert.ok(verdict.kind === 'failed' && verdict.failure === 'Cancelled');
  assert.deepEqual(await readdir(join(bed.dataDir, 'runs')), []);
});
