/** The page on what makes a stack run says what is built: its examples are tried. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readCatalog } from '../../hub/catalog/read.ts';
import { schemas } from '../../hub/api/schemas.ts';
import { entries } from '../../hub/cli/main.ts';
import { VERDICTS } from '../../hub/decision.ts';
import { makeSources } from '../../hub/git/poller.ts';
import { MAX_DEPTH } from '../../hub/inputs/patterns.ts';
import { limits } from '../../shared/limits.ts';
import { MAX_REASON_COMMITS, MAX_REASON_INPUTS, REASON_CODES } from '../../shared/outcome.ts';
import { serve } from '../hub/api/fixture.ts';
import { makeRepository, type Changes } from '../harness/git.ts';
import { makeMemoryHub } from '../harness/hub.ts';
import { atEnd, type Owner } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { blocksOf, codesIn, readPage, sectionOf, tableOf } from './page.ts';

const page = readPage('change-detection.md');

test('the examples of manifests are accepted', () => {
  const examples = blocksOf(page, 'yaml');
  assert.ok(examples.length > 0);
  for (const example of examples) {
    const file = {
      repository: 'fleet',
      trust: 'fleet',
      path: 'a.yaml',
      content: Buffer.from(example),
    } as const;
    assert.deepEqual(readCatalog([file], 0).problems, [], example);
  }
});

test('the example of an answer is one', () => {
  const [example = ''] = blocksOf(page, 'json');
  const { reasons } = schemas.Why.parse(JSON.parse(example)).decided ?? assert.fail();
  assert.deepEqual(
    reasons.map(({ inputs, inputCount }) => inputs?.length === inputCount),
    [true],
  );
});

test('verdicts, codes and bounds are those of the code', () => {
  const verdicts = tableOf(sectionOf(page, '## How a commit is planned')).map(
    ([name = '']) => codesIn(name)[0],
  );
  assert.deepEqual(verdicts.toSorted(), [...VERDICTS].sort());
  const codes: readonly string[] = REASON_CODES;
  for (const [, code = ''] of tableOf(sectionOf(page, '## What fails loudly')))
    assert.ok(codes.includes(codesIn(code)[0] ?? ''), code);
  for (const bound of [
    `more than ${MAX_DEPTH} folders deep`,
    `more than ${limits.artifactBytes / 2 ** 20} MiB`,
    `last ${limits.keptCommits} planned commits`,
    `the first ${MAX_REASON_INPUTS}`,
    `up to ${MAX_REASON_COMMITS}, newest first`,
  ])
    assert.ok(page.includes(bound), bound);
});

const shell = blocksOf(page, 'sh').flatMap((block) => block.trim().split('\n'));

test('the commands are there, with their flags', async () => {
  const lines = shell.filter((line) => line.startsWith('towline '));
  assert.ok(lines.length > 0);
  const main = new URL('../../hub/cli/main.ts', import.meta.url).pathname;
  for (const line of lines) {
    const [, command = ''] = line.split(' ');
    assert.ok(
      entries.some(({ name }) => name === command),
      line,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [main, command, '--help']);
    for (const flag of line.match(/--[a-z]\S*/g) ?? [])
      assert.ok(stdout.includes(`${flag} `) || stdout.includes(`${flag}\n`), `${line}: ${flag}`);
  }
});

test('the addresses are those of the API', async (t) => {
  const { app } = await serve(t);
  const { paths } = (await app.inject('/openapi.json')).json<{ paths: Record<string, unknown> }>();
  const urls = shell.flatMap((line) => /\$API(\/[^"?]+)/.exec(line)?.[1] ?? []);
  assert.ok(urls.length > 0);
  for (const url of urls)
    assert.ok(
      Object.keys(paths).some((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url)),
      url,
    );
});

const project = (name: string): string => `name: ${name}\nruntime: nodejs\n`;
const stack = (name: string): string =>
  `apiVersion: towline.dev/v1\nkind: Stack\nmetadata: { name: ${name} }\nspec: { clusters: { all: true }, backend: { url: 's3://state' } }\n`;
const manifest = (name: string, dependencies: Readonly<Record<string, string>>): object => ({
  ...{ name: `@example/${name}`, version: '1.0.0' },
  dependencies,
});

interface Versions {
  readonly net: string;
  readonly api: string;
  readonly more?: readonly string[];
}

/** Manifests and lockfile of the example, with a package that each of two workspaces depends on. */
function workspaces({ net, api, more = [] }: Versions): Changes {
  const all: Readonly<Record<string, object>> = {
    'apps/web': manifest('web', { '@example/net': '1.0.0' }),
    'apps/api': manifest('api', { right: api }),
    'libs/net': manifest('net', { left: net }),
    ...Object.fromEntries(more.map((folder) => [folder, manifest('new', {})])),
  };
  const root = { name: 'example', workspaces: Object.keys(all).sort() };
  const registry = (name: string, version: string): object => ({
    ...{
      version,
      resolved: `https://registry.example/${name}-${version}.tgz`,
      integrity: `sha512-${version}`,
    },
  });
  const packages = {
    '': root,
    ...all,
    ...Object.fromEntries(
      Object.entries(all).map(([folder, { name }]: [string, { name?: string }]) => [
        `node_modules/${name}`,
        { resolved: folder, link: true },
      ]),
    ),
    'node_modules/left': registry('left', net),
    'node_modules/right': registry('right', api),
  };
  return {
    'package.json': JSON.stringify(root),
    'package-lock.json': JSON.stringify({ name: 'example', lockfileVersion: 3, requires: true, packages }),
    ...Object.fromEntries(
      Object.entries(all).map(([folder, content]) => [`${folder}/package.json`, JSON.stringify(content)]),
    ),
  };
}

const FILES: Changes = {
  'fleet.yaml': 'apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: { name: c }\n',
  ...workspaces({ net: '1.0.0', api: '1.0.0' }),
  'apps/web/Pulumi.yaml': project('web'),
  'apps/web/stack.yaml': stack('web'),
  'apps/web/index.ts': "import '@example/net';\n",
  'apps/api/Pulumi.yaml': project('api'),
  'apps/api/stack.yaml': stack('api'),
  'apps/api/index.ts': "import 'right';\n",
  'libs/net/client.ts': 'export {};\n',
  'apps/shared/x.ts': 'export {};\n',
};

/** What each row of the example changes, by its first cell. */
const EDITS: Readonly<Record<string, Changes>> = {
  '`apps/web/index.ts`': { 'apps/web/index.ts': "import '@example/net'; // more\n" },
  '`libs/net/client.ts`': { 'libs/net/client.ts': 'export const a = 1;\n' },
  'what `libs/net` depends on, with the lockfile': workspaces({ net: '1.1.0', api: '1.0.0' }),
  'what `apps/api` depends on, with the lockfile': workspaces({ net: '1.1.0', api: '2.0.0' }),
  '`.nvmrc` in the root': { '.nvmrc': '24\n' },
  '`README.md` in the root': { 'README.md': 'words\n' },
  'a new workspace `apps/new`, with the lockfile': {
    ...workspaces({ net: '1.1.0', api: '2.0.0', more: ['apps/new'] }),
  },
  '`apps/web/index.ts`, which now imports `../shared/x`': {
    'apps/web/index.ts': "import '@example/net';\nimport '../shared/x';\n",
  },
  'then `apps/shared/x.ts`': { 'apps/shared/x.ts': 'export const b = 2;\n' },
};

/** Names of the stacks that a commit runs. */
interface Rig {
  commit(subject: string, changes: Changes): Promise<readonly string[]>;
}

async function rigOf(owner: Owner): Promise<Rig> {
  const fleet = await makeRepository(owner);
  const sources = await makeSources({
    repositories: [
      {
        ...{ name: 'fleet', url: fleet.folder, ref: { branch: 'main' }, trust: 'fleet' },
        ...{ manifests: ['**/*.yaml'], intervalMs: 1_000 },
      },
    ],
    folder: await tempFolder(owner, 'mirrors'),
    git: { program: 'git', environment: { PATH: process.env['PATH'] } },
    onHint: () => undefined,
  });
  atEnd(owner, () => sources.close());
  const hub = makeMemoryHub(sources);
  let now = 1_000_000;
  return {
    async commit(subject, changes) {
      await fleet.commit(subject, changes);
      const end = await hub.pass((now += 10_000));
      assert.ok(end.kind === 'planned', end.kind);
      assert.deepEqual(end.done.measured.refused, []);
      return end.done.orders.map((order) => order.stack.name).sort();
    },
  };
}

const WORDS: Readonly<Record<string, readonly string[]>> = { both: ['api', 'web'], none: [] };

test('each row of the example runs what it says', async (t) => {
  const rows = tableOf(sectionOf(page, '### What is found by itself').split('With the projects')[1] ?? '');
  assert.deepEqual(
    rows.map(([what]) => what),
    Object.keys(EDITS),
  );
  const rig = await rigOf(t);
  assert.deepEqual(await rig.commit('Begin', FILES), ['api', 'web']);
  for (const [what = '', runs = ''] of rows)
    assert.deepEqual(await rig.commit(what, EDITS[what] ?? {}), WORDS[runs] ?? codesIn(runs), what);
});
