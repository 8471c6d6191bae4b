import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { tempFolder } from '../../harness/temp.ts';
import { clusterFile, reads, repositoryOf, stackFiles } from './repository.ts';
import { runTowline } from './run.ts';

interface Report {
  readonly stacks: number;
  readonly clusters: number;
  readonly errors: readonly { readonly file: string; readonly line: number; readonly message: string }[];
  readonly warnings: readonly { readonly file: string; readonly line: number; readonly message: string }[];
}

async function validate(
  folder: string,
  ...more: readonly string[]
): Promise<Report & { readonly code: number }> {
  const { code, output } = await runTowline(['validate', folder, '--json', ...more]);
  return { code, ...(JSON.parse(output) as Report) };
}

test('a repository without mistakes is valid', async (t) => {
  const { repository } = await repositoryOf(t, {
    'fleet.yaml': clusterFile('eu', 'us'),
    ...stackFiles('a', { spec: '  clusters: { all: true }\n' }),
  });
  assert.deepEqual(await validate(repository.folder), {
    code: 0,
    stacks: 1,
    clusters: 2,
    errors: [],
    warnings: [],
  });
  assert.deepEqual(await runTowline(['validate', repository.folder]), {
    code: 0,
    output: '1 stack, 2 clusters, 0 errors, 0 warnings\n',
  });
});

test('what is not committed counts, what git ignores does not', async (t) => {
  const { repository } = await repositoryOf(t, { ...stackFiles('a'), '.gitignore': 'ignored/\n' });
  for (const folder of ['b', 'ignored']) {
    await mkdir(join(repository.folder, folder));
    for (const [path, content] of Object.entries(stackFiles(folder, { spec: '  nonsense: 1\n' })))
      await writeFile(join(repository.folder, path), content);
  }
  const { code, stacks, errors } = await validate(repository.folder);
  assert.deepEqual(
    [code, stacks, errors.map(({ file, line }) => [file, line])],
    [1, 2, [['b/stack.yaml', 6]]],
  );
  assert.match(
    (await runTowline(['validate', repository.folder])).output,
    /^b\/stack\.yaml:6: error: Stack shop\/b: /,
  );
});

test('mistakes that only inputs or the plan show are told, as errors or warnings', async (t) => {
  const { repository } = await repositoryOf(t, {
    'fleet.yaml': clusterFile('eu'),
    ...stackFiles('a', { spec: '  source: { include: [../nothing/**] }\n' }),
    ...stackFiles('b', { program: reads('"../${pulumi.stack}.txt"') }),
    'c/stack.yaml':
      'apiVersion: towline.dev/v1\nkind: Stack\nmetadata: { name: c, namespace: shop }\nspec: {}\n',
  });
  const { code, errors, warnings } = await validate(repository.folder);
  assert.equal(code, 1);
  assert.deepEqual(
    errors.map(({ file }) => file),
    ['c/stack.yaml'],
  );
  assert.match(errors[0]?.message ?? '', /no Pulumi\.yaml/);
  assert.deepEqual(
    warnings.map(({ file }) => file),
    ['a/stack.yaml', 'b/stack.yaml'],
  );
  assert.match(warnings[0]?.message ?? '', /matches no file/);
  assert.match(warnings[1]?.message ?? '', /b\/Pulumi\.yaml line 3 reads below the root/);
});

test('a folder of a repository is judged with the rest of it, and its own mistakes are told', async (t) => {
  const { repository } = await repositoryOf(t, {
    ...stackFiles('stacks/a', { spec: '  nonsense: 1\n' }),
    ...stackFiles('stacks/b'),
    'stacks/defaults.yaml':
      'apiVersion: towline.dev/v1\nkind: Defaults\nmetadata: { name: d }\nspec: { stackConfig: ignore }\n',
  });
  const b = await validate(join(repository.folder, 'stacks/b'));
  assert.deepEqual([b.code, b.stacks, b.errors], [0, 1, []]);
  const a = await validate(join(repository.folder, 'stacks/a'));
  assert.deepEqual([a.code, a.stacks, a.errors.length], [1, 1, 1]);
});

test('a folder that is no repository is read as it is', async (t) => {
  const folder = await tempFolder(t, 'plain');
  for (const [path, content] of Object.entries(stackFiles('a'))) {
    await mkdir(join(folder, 'a'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  assert.deepEqual(await validate(folder), { code: 0, stacks: 1, clusters: 0, errors: [], warnings: [] });
});

test('a folder that is not there exits with 2', async () => {
  const { code, output } = await runTowline(['validate', '/nowhere/at/all']);
  assert.equal(code, 2);
  assert.match(output, /^towline validate: \/nowhere\/at\/all is not there: name a folder/);
});
