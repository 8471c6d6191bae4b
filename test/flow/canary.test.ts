/** Secrets of every kind, printed in every way: none of them is in anything that leaves a run or stays after it. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeRepository, type Changes, type Repository } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { serveGit, type GitServer } from '../harness/serve.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { everyAnswer } from './answers.ts';
import { effectOfAll } from './effect.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { cluster, defaults, stack } from './programs.ts';

/** Begins and ends with letters that no encoding changes and nothing else contains; between are those that encodings change. */
const canary = (name: string): string => `k7${name}Begin4Q "q" & <é>/+?=\\ k7${name}End4Q`;

const SECRETS = {
  passphrase: canary('Phrase'),
  env: canary('Env'),
  file: `-----BEGIN-----\n${canary('File')}\n-----END-----\n`,
  config: canary('Config'),
  configFile: canary('Filed'),
  /** In the agent's environment, for nobody. */
  own: canary('Own'),
  url: canary('Url'),
} as const;

/** What stands for a secret in any form: its ends as they are, and in base64 at each of the three positions. */
const PIECES: readonly string[] = ['Phrase', 'Env', 'File', 'Config', 'Filed', 'Own', 'Url'].flatMap((name) =>
  [`k7${name}Begin4Q`, `k7${name}End4Q`].flatMap((end) => [
    end,
    ...['', 'a', 'ab'].map((before) =>
      Buffer.from(before + end)
        .toString('base64')
        .slice(4, -4),
    ),
  ]),
);

const PROGRAM = `
const pulumi = require('@pulumi/pulumi');
const fs = require('node:fs');
const config = new pulumi.Config();
const secrets = [
  process.env.PULUMI_CONFIG_PASSPHRASE, process.env.CANARY, fs.readFileSync(process.env.CANARY_FILE, 'utf8'),
  config.require('plain'), config.require('filed'),
];
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
for (const secret of secrets) {
  console.log('raw', secret);
  console.log('json', JSON.stringify({ secret }), JSON.stringify(JSON.stringify(secret)));
  console.log('base64', ...['', 'a', 'ab'].map((before) => Buffer.from(before + secret).toString('base64')));
  console.log('url', encodeURIComponent(secret), encodeURI(secret), new URLSearchParams({ secret }).toString());
  process.stdout.write('cut ' + secret.slice(0, 20));
  pause();
  process.stdout.write(secret.slice(20) + '\\n');
  console.error('error', secret);
  pulumi.log.warn(secret);
}
console.log(JSON.stringify(process.env));
exports.leak = secrets.join(' ');
exports.encoded = secrets.map((secret) => Buffer.from(secret).toString('base64'));
`;

const FAILING = `${PROGRAM}throw new Error(secrets.join('; '));\n`;

interface World {
  readonly fleet: Fleet;
  readonly remote: Repository;
  readonly server: GitServer;
}

/** The SDK is found where this project has it, so that no run waits for an install. */
const MODULES = dirname(
  dirname(dirname(createRequire(import.meta.url).resolve('@pulumi/pulumi/package.json'))),
);

async function begin(owner: Owner): Promise<World> {
  const folder = await tempFolder(owner, 'secrets');
  const files = { file: join(folder, 'file'), config: join(folder, 'config') };
  const password = join(folder, 'password');
  await writeFile(password, SECRETS.url);
  await writeFile(files.file, SECRETS.file);
  await writeFile(files.config, SECRETS.configFile);
  const remote = await makeRepository(owner, 'remote');
  const server = await serveGit(owner, remote);
  const credentials = { username: 'reader', password: SECRETS.url };
  server.protect(credentials);
  const fleet = await startFleet(owner, {
    clusters: ['harbour'],
    url: server.url,
    auth: { username: 'reader', password: { file: password } },
    agentEnv: { PASSPHRASE: SECRETS.passphrase, ENV: SECRETS.env, CONFIG: SECRETS.config, OWN: SECRETS.own },
    allowEnv: ['PASSPHRASE', 'ENV', 'CONFIG'],
    allowFiles: [folder],
  });
  const first = await remote.commit('first', {
    'fleet.yaml': cluster('harbour'),
    'stacks/defaults.yaml': defaults(fleet.state),
    'stacks/web/stack.yaml': stack({ name: 'web', more: manifest(files) }),
    ...programOf(PROGRAM),
  });
  await fleet.reader.atRest(first);
  return { fleet, remote, server };
}

const programOf = (text: string): Changes => ({
  'stacks/web/Pulumi.yaml': 'name: web\nruntime: nodejs\nmain: index.js\n',
  'stacks/web/index.js': text,
});

const manifest = (files: { readonly file: string; readonly config: string }): string =>
  [
    '  run: {install: none}',
    '  env:',
    `    - {name: NODE_PATH, value: ${JSON.stringify(MODULES)}}`,
    '    - {name: CANARY, valueFrom: {env: ENV}}',
    `  files: [{path: deep/key, valueFrom: {file: ${files.file}}, env: CANARY_FILE}]`,
    `  configSecrets: {"web:plain": {env: CONFIG}, "web:filed": {file: ${files.config}}}`,
    '',
  ].join('\n');

function assertClean(where: string, content: string | Uint8Array, more: readonly string[] = []): void {
  const bytes = Buffer.from(content);
  for (const piece of [...PIECES, ...more])
    assert.ok(!bytes.includes(piece), `${piece} is in ${where}:\n${excerpt(bytes, piece)}`);
}

function excerpt(bytes: Buffer, piece: string): string {
  const at = bytes.indexOf(piece);
  return bytes.subarray(Math.max(0, at - 200), at + 200).toString('latin1');
}

async function assertAllClean({ fleet }: World): Promise<void> {
  const stored = await fleet.broker.contents();
  assert.ok(
    stored.some(({ subject }) => subject.includes('.log.')),
    'the output is on the broker',
  );
  for (const { stream, subject, data } of stored) assertClean(`${stream} ${subject}`, data);
  const orders = stored.filter(({ subject }) => subject === 'orders.harbour.default.web');
  const keys = orders.map(
    ({ data }) => (JSON.parse(Buffer.from(data).toString()) as { artifact: { key: string } }).artifact.key,
  );
  const seeds = await Promise.all(
    ['hub.seed', 'harbour.seed'].map((name) => readFile(join(fleet.folder, name), 'utf8')),
  );
  assert.ok(keys.length > 0);

  const folders = [fleet.nats.storeFolder, fleet.hubData, fleet.agentData('harbour')];
  for (const folder of folders)
    for (const path of await filesBelow(folder)) assertClean(path, await readFile(path), seeds);
  assert.deepEqual(await readdir(join(fleet.agentData('harbour'), 'runs')), []);

  const logs = {
    hub: fleet.hub.log(),
    agent: fleet.agents.get('harbour')?.log() ?? '',
    nats: fleet.nats.log(),
  };
  for (const [name, log] of Object.entries(logs)) assertClean(`the log of ${name}`, log, [...keys, ...seeds]);
  assertClean('the command lines', (await fleet.started()).join('\n'), [...keys, ...seeds]);

  const answers = await everyAnswer(fleet.reader);
  assert.deepEqual(
    answers.filter(({ text }) => text.includes('urn:towline:problem:')),
    [],
  );
  for (const { url, text } of answers) assertClean(url, text, [...keys, ...seeds]);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The lines of the newest run, as people read them. */
async function output({ fleet }: World): Promise<string> {
  const [run] = await fleet.reader.runs({ cluster: 'harbour', name: 'web' });
  const log = await fleet.reader.get<{ lines: string[] }>(
    `/v1/placements/harbour/default/web/runs/${run?.runId}/log`,
  );
  return log.lines.join('\n');
}

test('canary secrets are found in no stream, file, log, answer or figure', async (t) => {
  const world = await begin(t);
  const { fleet, remote, server } = world;
  await t.test('a program that prints and exports them', async () => {
    const row = await fleet.reader.placement({ cluster: 'harbour', name: 'web' });
    assert.equal(row.status, 'Succeeded', row.reason?.text);
    const text = await output(world);
    assert.ok((text.match(/raw.*\[secret\]/g)?.length ?? 0) >= 5, text);
    await assertAllClean(world);
  });

  await t.test('a program whose error message has them', async () => {
    const { rows } = await effectOfAll(fleet, () => remote.commit('fail', programOf(FAILING)));
    assert.equal(rows[0]?.status, 'Failed');
    assert.match(rows[0]?.reason?.text ?? '', /\[secret\]/);
    await assertAllClean(world);
  });

  await t.test('credentials of a repository that are refused', async () => {
    server.protect({ username: 'reader', password: 'another' });
    await until('the refusal', async () => (await fleet.reader.sources())[0]?.state === 'AuthFailed');
    await assertAllClean(world);
  });
});
