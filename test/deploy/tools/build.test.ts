import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { buildTool, BuildFailed, duration, layTogether } from '../../../deploy/tools/build.ts';
import { builtFolder, setFolder, type Workshop } from '../../../deploy/tools/cache.ts';
import { DYNAMIC_PROVIDER, tools, wanted, type Tool } from '../../../deploy/tools/catalog.ts';
import { lookForGo } from '../../../deploy/tools/look.ts';
import { tempFolder } from '../../harness/temp.ts';

const run = promisify(execFile);
const PROGRAM = 'package main\n\nvar version string\n\nfunc main() { println(version) }\n';
const tool: Tool = { ...tools['nats-server'], source: '.', linkerFlags: '-s -w -X main.version=v9.8.7' };
const go = await lookForGo('.', process.env);
const needsGo = { skip: go.kind === 'missing' ? 'Go is not installed' : false };
const silent = (): void => undefined;

test(
  'a tool is built once, also when two ask at the same time, with its linker flags',
  needsGo,
  async (t) => {
    const workshop = await makeWorkshop(t, PROGRAM);
    const lines: string[] = [];
    const build = (): Promise<string> => buildTool(workshop, tool, (line) => lines.push(line));
    const [path, other] = await Promise.all([build(), build()]);
    assert.equal(path, other);
    assert.equal((await run(path)).stderr, 'v9.8.7\n');
    assert.deepEqual(await readdir(workshop.cache), [(await builtFolder(workshop, tool)).split('/').at(-1)]);

    const { ino } = await stat(path);
    lines.length = 0;
    assert.equal(await build(), path);
    assert.deepEqual(lines, []);
    assert.equal((await stat(path)).ino, ino);
  },
);

test('a program that does not compile leaves nothing and says what the compiler said', needsGo, async (t) => {
  const workshop = await makeWorkshop(t, 'package main\n\nfunc main() { undefinedName() }\n');
  await assert.rejects(buildTool(workshop, tool, silent), (error: Error) => {
    assert.ok(error instanceof BuildFailed);
    assert.match(error.message, /nats-server does not build:[^]*undefined: undefinedName/);
    return true;
  });
  assert.deepEqual(await readdir(workshop.cache), []);
});

test('other flags or another go.sum make another folder', async (t) => {
  const workshop = await makeWorkshop(t, PROGRAM);
  const first = await builtFolder(workshop, tool);
  assert.notEqual(await builtFolder(workshop, { ...tool, linkerFlags: '' }), first);
  await writeFile(join(workshop.modules, tool.name, 'go.sum'), 'example.com/x v1.0.0 h1:x=\n');
  assert.notEqual(await builtFolder(workshop, tool), first);
});

test('pulumi, its hosts and the provider script lie together as files, not as symbolic links', async (t) => {
  const folder = await tempFolder(t, 'workshop');
  const modules = join(import.meta.dirname, '../../../deploy/tools');
  const workshop: Workshop = { modules, cache: join(folder, 'cache'), environment: {} };
  for (const part of Object.values(tools))
    for (const name of [part.name, ...(part.scripts ?? [])])
      await put(join(await builtFolder(workshop, part), name), name);
  const path = await layTogether(workshop, wanted.pulumi);
  assert.equal(dirname(path), await setFolder(workshop, wanted.pulumi));
  const names = (await readdir(dirname(path), { withFileTypes: true })).filter((one) => one.isFile());
  assert.deepEqual(names.map(({ name }) => name).sort(), ['pulumi', ...wanted.pulumi.beside].sort());
  assert.equal(await readFile(join(dirname(path), 'pulumi-language-yaml'), 'utf8'), 'pulumi-language-yaml');
  assert.equal((await stat(join(dirname(path), DYNAMIC_PROVIDER))).mode & 0o111, 0o111);
});

test('durations read well', () => {
  assert.equal(duration(44_400), '44 s');
  assert.equal(duration(256_000), '4 min 16 s');
});

async function makeWorkshop(t: test.TestContext, program: string): Promise<Workshop> {
  const folder = await tempFolder(t, 'workshop');
  const module = join(folder, 'modules', tool.name);
  await put(join(module, 'go.mod'), 'module example.com/tool\n\ngo 1.21\n');
  await put(join(module, 'go.sum'), '');
  await put(join(module, 'main.go'), program);
  return { modules: dirname(module), cache: join(folder, 'cache'), environment: process.env };
}

async function put(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
