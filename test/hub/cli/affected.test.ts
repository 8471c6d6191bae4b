import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { Changes } from '../../harness/git.ts';
import { tempFolder } from '../../harness/temp.ts';
import { askAffected, clusterFile, reads, repositoryOf, stackFiles } from './repository.ts';
import { runTowline } from './run.ts';

const base: Changes = {
  ...stackFiles('stacks/a', { program: reads('../../libs/a.txt') }),
  ...stackFiles('stacks/b', { program: reads('../../libs/b.txt') }),
  ...stackFiles('stacks/a-b', { spec: '  config: { "a:x": 1 }\n' }),
  'libs/a.txt': 'a',
  'libs/b.txt': 'b',
  'README.md': '',
};

interface Case {
  readonly says: string;
  readonly changes: Changes;
  readonly lines: readonly string[];
}

const cases: readonly Case[] = [
  { says: 'nothing for a commit of nothing', changes: {}, lines: [] },
  { says: 'nothing for a file that no stack reads', changes: { 'README.md': 'more' }, lines: [] },
  {
    says: 'only the stack of a changed folder, not those whose names start alike',
    changes: { 'stacks/a/more.txt': 'x' },
    lines: ['order shop/stacks-a on *: InputChanged'],
  },
  {
    says: 'the stacks that read a changed file of a library',
    changes: { 'libs/b.txt': 'bb' },
    lines: ['order shop/stacks-b on *: InputChanged'],
  },
  {
    says: 'a stack of which a file is gone',
    changes: { 'libs/a.txt': null },
    lines: ['order shop/stacks-a on *: InputChanged'],
  },
  {
    says: 'both ends of a file that moved from stack to stack',
    changes: { 'libs/a.txt': null, 'stacks/b/a.txt': 'a' },
    lines: ['order shop/stacks-a on *: InputChanged', 'order shop/stacks-b on *: InputChanged'],
  },
  {
    says: 'a stack that is new',
    changes: stackFiles('stacks/c'),
    lines: ['order shop/stacks-c on *: NewPlacement'],
  },
  {
    says: 'a stack that is gone, and only that one',
    changes: { 'stacks/b/stack.yaml': null, 'stacks/b/Pulumi.yaml': null },
    lines: ['tombstone shop/stacks-b on *: Orphaned'],
  },
  {
    says: 'a changed field of a manifest',
    changes: stackFiles('stacks/a-b', { spec: '  config: { "a:x": 2 }\n' }),
    lines: ['order shop/stacks-a-b on *: ConfigChanged'],
  },
  {
    says: 'fields for some clusters, where no cluster is described',
    changes: stackFiles('stacks/a-b', {
      spec: '  config: { "a:x": 1 }\n  overrides: [{ clusters: { names: [eu] }, stackConfig: ignore }]\n',
    }),
    lines: ['order shop/stacks-a-b on *: ConfigChanged'],
  },
  {
    says: 'a stack that is suspended, with what waits',
    changes: {
      ...stackFiles('stacks/a', {
        spec: '  suspend: { reason: rest }\n',
        program: reads('../../libs/a.txt'),
      }),
      'libs/a.txt': 'aa',
    },
    lines: ['hold shop/stacks-a on *: Suspended,InputChanged'],
  },
];

for (const { says, changes, lines } of cases)
  test(`towline affected tells ${says}`, async (t) => {
    const { repository, first } = await repositoryOf(t, base);
    const second = await repository.commit('Second', changes);
    const asked = await askAffected(repository, [first, second]);
    assert.deepEqual(asked.lines, lines);
    assert.equal(asked.code, lines.length === 0 ? 0 : 1);
    assert.deepEqual([asked.told.from, asked.told.to, asked.told.errors], [first, second, []]);
    const gone = lines.filter((line) => line.startsWith('tombstone')).length;
    const fresh = lines.filter((line) => line.endsWith('NewPlacement')).length;
    assert.equal(asked.told.unaffected, 3 + gone + fresh - gone - lines.length);
  });

test('each cluster is told on its own where clusters are described', async (t) => {
  const everywhere = '  clusters: { all: true }\n';
  const { repository, first } = await repositoryOf(t, {
    'fleet.yaml': clusterFile('eu', 'us'),
    ...stackFiles('a', { spec: everywhere }),
    ...stackFiles('b', { spec: '  clusters: { names: [us] }\n' }),
  });
  const override = `${everywhere}  overrides: [{ clusters: { names: [us] }, config: { "a:x": 1 } }]\n`;
  const second = await repository.commit('Second', {
    ...stackFiles('a', { spec: override }),
    'b/x.txt': 'x',
  });
  const { lines, told } = await askAffected(repository, [first, second]);
  assert.deepEqual(lines, ['order shop/a on us: ConfigChanged', 'order shop/b on us: InputChanged']);
  assert.equal(told.unaffected, 1);
  const reason = told.affected[1]?.reasons[0];
  assert.deepEqual(Object.keys(reason ?? {}), ['code', 'inputs']);
  assert.deepEqual(
    reason?.inputs.map(({ path }) => path),
    ['b/x.txt'],
  );
});

test('a change that was taken back affects nothing, whatever lies between', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  await repository.commit('There', { 'libs/a.txt': 'other' });
  const back = await repository.commit('And back', { 'libs/a.txt': 'a' });
  assert.deepEqual((await askAffected(repository, [first, back])).lines, []);
});

test('commits without a common past are compared as they are', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  await repository.git('checkout', '--quiet', '--orphan', 'other');
  const other = await repository.commit('Another beginning', { 'libs/b.txt': 'bb' });
  const { lines } = await askAffected(repository, [first, other]);
  assert.deepEqual(lines, ['order shop/stacks-b on *: InputChanged']);
});

test('a mode that changed affects a stack, once', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  await chmod(join(repository.folder, 'libs/a.txt'), 0o755);
  const second = await repository.commit('Second');
  assert.deepEqual((await askAffected(repository, [first, second])).lines, [
    'order shop/stacks-a on *: InputChanged',
  ]);
});

test('what is not committed is not looked at, names and abbreviations are', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit('Second', { 'libs/a.txt': 'aa' });
  await repository.git('rm', '--quiet', '--cached', 'libs/b.txt');
  const { told } = await askAffected(repository, [first.slice(0, 10), 'main']);
  assert.deepEqual([told.from, told.to], [first, second]);
  assert.equal(told.affected.length, 1);
});

test('--path leaves out stacks of other folders, --manifests other manifests', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit('Second', { 'libs/a.txt': 'aa', 'libs/b.txt': 'bb' });
  const limited = await askAffected(repository, [first, second], '--path', 'stacks/b/');
  assert.deepEqual(limited.lines, ['order shop/stacks-b on *: InputChanged']);
  assert.equal(limited.told.unaffected, 0);
  const chosen = await askAffected(repository, [first, second], '--manifests', 'stacks/a/*.yaml', '!x.yaml');
  assert.deepEqual(chosen.lines, ['order shop/stacks-a on *: InputChanged']);
});

test('a --path that neither revision has is an error, one that only the older has is none', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit('Second', {
    'stacks/b/stack.yaml': null,
    'stacks/b/Pulumi.yaml': null,
  });
  const gone = await askAffected(repository, [first, second], '--path', 'stacks/b');
  assert.deepEqual(gone.lines, ['tombstone shop/stacks-b on *: Orphaned']);
  const args = ['--repo', repository.folder, '--from', first, '--to', second, '--path', 'stack/b'];
  const { code, output } = await runTowline(['affected', ...args]);
  assert.equal(code, 2);
  assert.match(output, /--path stack\/b: neither revision has it; name a folder/);
});

test('errors are told with file and line, the others are told all the same', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit('Second', {
    ...stackFiles('stacks/a', { spec: '  nonsense: 1\n' }),
    'libs/b.txt': 'bb',
  });
  const { code, lines, told } = await askAffected(repository, [first, second]);
  assert.equal(code, 2);
  assert.deepEqual(lines, ['order shop/stacks-b on *: InputChanged']);
  assert.deepEqual(
    told.errors.map(({ file, line }) => [file, line]),
    [['stacks/a/stack.yaml', 6]],
  );
  assert.match(told.errors[0]?.message ?? '', /^Stack shop\/stacks-a: spec\.nonsense is not a field/);
});

test('in words it says what and, asked to, why', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit('Second', { 'libs/a.txt': 'aa' });
  const args = ['affected', '--repo', repository.folder, '--from', first, '--to', second];
  assert.deepEqual(await runTowline(args), {
    code: 1,
    output: 'order     shop/stacks-a on *\n1 affected, 2 not\n',
  });
  assert.match(
    (await runTowline([...args, '--explain'])).output,
    /InputChanged: file libs\/a\.txt changed\n {4}libs\/a\.txt\n/,
  );
});

test('a base that a shallow clone lacks is an error with the remedy, never everything', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit('Second', { 'libs/a.txt': 'aa' });
  const shallow = join(await tempFolder(t, 'shallow'), 'fleet');
  await repository.git('clone', '--quiet', '--depth=1', `file://${repository.folder}`, shallow);
  for (const revision of [first, 'HEAD~1']) {
    const result = await runTowline([
      'affected',
      '--repo',
      shallow,
      '--from',
      revision,
      '--to',
      second,
      '--json',
    ]);
    assert.equal(result.code, 2);
    assert.match(
      result.output,
      /^towline affected: there is no commit .*: the clone is shallow; .*git fetch --deepen/,
    );
  }
});

const refused: readonly { readonly args: readonly string[]; readonly prints: RegExp }[] = [
  { args: ['--from', 'a', '--to', 'b'], prints: /required option '--repo <path>' not specified/ },
  {
    args: ['--repo', '/', '--from', 'a', '--to', 'b'],
    prints: /\/ is not a Git repository: name the root of one/,
  },
  {
    args: ['--repo', '.', '--from', 'a', '--to', 'b', '--path', '../x'],
    prints: /--path \.\.\/x: name a folder/,
  },
  { args: ['--repo', '.', '--from', 'a', '--to', 'b', '--what'], prints: /unknown option '--what'/ },
];
for (const { args, prints } of refused)
  test(`towline affected ${args.join(' ')} exits with 2`, async () => {
    const { code, output } = await runTowline(['affected', ...args]);
    assert.equal(code, 2);
    assert.match(output, prints);
  });

test('help says what the exit codes mean', async () => {
  for (const command of ['affected', 'validate']) {
    const { code, output } = await runTowline([command, '--help']);
    assert.equal(code, 0);
    assert.match(output, /Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 /);
  }
});

test('a stack whose program is at another ref cannot be told, and that is said', async (t) => {
  const { repository, first } = await repositoryOf(t, base);
  const second = await repository.commit(
    'Second',
    stackFiles('stacks/a', { spec: '  source: { ref: { branch: other } }\n' }),
  );
  const { code, told } = await askAffected(repository, [first, second]);
  assert.equal(code, 2);
  assert.deepEqual(told.affected, []);
  assert.match(
    told.errors[0]?.message ?? '',
    /^Stack shop\/stacks-a: .*which holds its program, was not read/,
  );
});
