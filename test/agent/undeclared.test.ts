/** Programs of Node.js that look at what they did not declare, with the real Pulumi CLI. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  finishRun,
  jobOf,
  makeBed,
  nodeProgram,
  runOnce,
  start,
  type Bed,
  type Finished,
  type TreeFiles,
} from './bed.ts';
import { ship } from './hermetic.ts';

const PROJECT = 'apps/web';

/** What lies in the repository besides the program. */
const AROUND: TreeFiles = {
  'README.md': 'read me',
  'apps/api/Pulumi.yaml': 'name: api\nruntime: yaml\n',
  'services/a/service.json': '{}',
  'services/b/service.json': '{}',
  'apps/web/own/one.txt': '1',
  'apps/web/own/two.txt': '2',
  'apps/web/Pulumi.dev.yaml': 'config: {}\n',
  'apps/web/Pulumi.prod.yaml': 'config: {}\n',
};

interface Site {
  readonly bed: Bed;
  /** One run of a program with that body, which may use `names`. */
  run(body: string, include?: readonly string[]): Promise<Finished>;
  /** Whether the resource of that name is there. */
  has(name: string): boolean;
}

/** A stack with one resource for each name that the body found; two are there from before. */
async function site(context: TestContext): Promise<Site> {
  const bed = await makeBed(context);
  const run: Site['run'] = async (body, include = []) => {
    const own = await nodeProgram(`
      const fs = require('node:fs');
      const path = require('node:path');
      ${body}
      for (const name of names) new Thing(name, { path: ${JSON.stringify(bed.folder)} + '/out-' + name });
    `);
    const repository = Object.fromEntries(
      Object.entries(own).map(([name, content]) => [`${PROJECT}/${name}`, content] as const),
    );
    const { files, surroundings } = ship({ ...AROUND, ...repository }, { project: PROJECT, include });
    const order = await bed.order(files, { inputs: { project: PROJECT }, surroundings });
    return runOnce(bed.executor, jobOf(order, { first: false }));
  };
  const has = (name: string): boolean => existsSync(join(bed.folder, `out-${name}`));
  const first = await bed.order(
    await nodeProgram(
      ['a', 'b'].map((name) => `new Thing('${name}', { path: '${bed.folder}/out-${name}' });`).join('\n'),
    ),
  );
  const { end } = await runOnce(bed.executor, jobOf(first));
  assert.equal(end.result, 'succeeded', end.reason.text);
  return { bed, run, has };
}

/** What a program does that finds `a` and `b` where it may look, and how it gets less where it may not. */
const PROGRAMS: readonly (readonly [string, string, RegExp, readonly string[]])[] = [
  [
    'asks whether a folder exists',
    `const names = fs.existsSync('../../services') ? fs.readdirSync('../../services') : [];`,
    /services\/ is in the repository.*add "\/services\/" to source\.include/,
    ['services/'],
  ],
  [
    'takes a refusal for an answer',
    `let names: string[] = [];
     try { fs.accessSync('../../services/a'); names = ['a', 'b']; } catch { names = []; }`,
    /add "\/services\/a" to source\.include, or "\/services\/" for all of it/,
    ['services/a/'],
  ],
  [
    'asks in a promise and catches its refusal',
    `const names: string[] = [];
     void fs.promises.stat('../../README.md').then(() => ['a', 'b'], () => []).then((found: string[]) => {
       for (const name of found) new Thing(name, { path: ${'`'}\${process.env.OUT}/out-\${name}${'`'} });
     });`,
    /README\.md is in the repository.*add "\/README\.md" to source\.include/,
    ['README.md'],
  ],
  [
    'lists the folder above',
    `const names = fs.readdirSync('..').length > 1 ? ['a', 'b'] : [];`,
    /more in apps\/ than this stack declares.*add "\/apps\/" to source\.include/,
    ['apps/'],
  ],
  [
    'reads a file',
    `const names = fs.readFileSync('../../README.md', 'utf8') === 'read me' ? ['a', 'b'] : [];`,
    /README\.md is in the repository.*add "\/README\.md" to source\.include/,
    ['README.md'],
  ],
  [
    'globs',
    `const names = fs.globSync('../../services/*/service.json').map((file: string) => path.basename(path.dirname(file)));`,
    /services\/ is in the repository.*add "\/services\/" to source\.include/,
    ['services/'],
  ],
  [
    'reads settings of another stack',
    `const names = fs.existsSync('Pulumi.prod.yaml') ? ['a', 'b'] : [];`,
    /apps\/web\/Pulumi\.prod\.yaml.*add "\/apps\/web\/Pulumi\.prod\.yaml" to source\.include/,
    ['apps/web/Pulumi.prod.yaml'],
  ],
];

test('a program is kept from what it did not declare, deletes nothing, and runs with the line that adds it', async (t) => {
  const { run, has, bed } = await site(t);
  for (const [what, body, says, include] of PROGRAMS)
    await t.test(`it ${what}`, async () => {
      const text = body.replaceAll('${process.env.OUT}', bed.folder);
      const { end, lines } = await run(text);
      assert.equal(end.failure, 'Config', `${end.reason.text}\n${lines.join('\n')}`);
      assert.equal(end.reason.code, 'UndeclaredInput');
      assert.match(end.reason.text, says);
      assert.equal(end.changes.delete, 0);
      assert.ok(has('a') && has('b'));
      const fixed = await run(text, include);
      assert.equal(fixed.end.result, 'succeeded', fixed.end.reason.text);
      assert.equal(fixed.end.changes.delete, 0);
    });
});

test('a program that stays inside sees what it has, and what is nowhere is nowhere', async (t) => {
  const { run, has } = await site(t);
  const { end, lines } = await run(`
      const own = fs.readdirSync('.').sort().join();
      const texts = fs.globSync('own/*.txt').sort().join();
      const nowhere = ['nothing', '../nothing', '../../nothing/at/all', 'own/three.txt', '../../node_modules']
        .filter((one) => fs.existsSync(one) || fs.statSync(one, { throwIfNoEntry: false }));
      let code; try { fs.readFileSync('../nothing.json'); } catch (error: any) { code = error.code; }
      fs.writeFileSync('../made.txt', 'made');
      console.log('seen', own, texts, nowhere.length, code, fs.readFileSync('../made.txt', 'utf8'));
      const names = ['a', 'b'];
    `);
  assert.equal(end.result, 'succeeded', `${end.reason.text}\n${lines.join('\n')}`);
  assert.deepEqual(end.changes, { create: 0, update: 0, delete: 0, replace: 0, same: 3 });
  const seen = lines.find((line) => line.includes('seen ')) ?? '';
  assert.match(
    seen,
    /seen Pulumi\.dev\.yaml,Pulumi\.yaml,index\.ts,node_modules,own,package-lock\.json,package\.json/,
  );
  assert.match(seen, /own\/one\.txt,own\/two\.txt 0 ENOENT made/);
  assert.ok(has('a'));
});

test('options of a stack’s own for Node.js are kept', async (t) => {
  const { bed } = await site(t);
  const extra = join(bed.folder, 'extra.cjs');
  await writeFile(extra, 'globalThis.extra = "loaded";');
  const own = await nodeProgram(`console.log('extra is', (globalThis as any).extra);`);
  const env = [{ name: 'NODE_OPTIONS', value: `--require=${extra}` }];
  const order = await bed.order(own, { inputs: { env }, surroundings: { '.': { undeclared: ['x'] } } });
  const { lines } = await finishRun(bed.executor, await start(bed.executor, jobOf(order, { first: false })));
  assert.ok(
    lines.some((line) => line.includes('extra is loaded')),
    lines.join('\n'),
  );
});
