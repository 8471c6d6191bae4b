import assert from 'node:assert/strict';
import { mkdtemp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSettings, configOf, type Configured, type Machine } from '../../agent/config.ts';
import { ensureKey, readSeed } from '../../agent/key.ts';
import { findProgram, foldersOfPath, inspectMachine } from '../../agent/machine.ts';
import { parseSettings } from '../../shared/config.ts';
import { publicKeyOf } from '../../shared/nats.ts';
import { tempFolder } from '../harness/temp.ts';

const machine: Machine = { hostname: 'host-1', isRoot: true, incarnationOf: (cluster) => `of ${cluster}` };

function configured(argv: readonly string[], on: Machine = machine): Configured {
  const parsed = parseSettings(agentSettings, argv, {});
  return parsed.kind === 'values'
    ? configOf(parsed.values, on)
    : { kind: 'errors', errors: parsed.kind === 'errors' ? parsed.errors : [] };
}

test('defaults follow from the cluster, the data folder and the machine', () => {
  const result = configured(['--cluster', 'eu.prod', '--data-dir', '/data']);
  assert.ok(result.kind === 'config');
  const { account, name, keyFile, incarnation, runUser, maxRuns, onStop, stopTimeoutMs, httpPort } =
    result.config;
  assert.deepEqual(
    { account, name, keyFile, incarnation, runUser, maxRuns, onStop, stopTimeoutMs, httpPort },
    {
      account: 'eu_prod',
      name: 'host-1',
      keyFile: '/data/agent.seed',
      incarnation: 'of eu.prod',
      runUser: { uid: 65_534, gid: 65_534 },
      maxRuns: Infinity,
      onStop: 'finish',
      stopTimeoutMs: 30_000,
      httpPort: undefined,
    },
  );
});

const USERS: readonly (readonly [string, boolean, unknown])[] = [
  ['', true, { uid: 65_534, gid: 65_534 }],
  ['', false, undefined],
  ['self', true, undefined],
  ['1000:1001', true, { uid: 1_000, gid: 1_001 }],
];
for (const [given, isRoot, expected] of USERS)
  test(`run user “${given}” ${isRoot ? 'as root' : 'as another user'}`, () => {
    const argv = ['--cluster', 'dev', ...(given === '' ? [] : ['--run-user', given])];
    const result = configured(argv, { ...machine, isRoot });
    assert.deepEqual(result.kind === 'config' && result.config.runUser, expected);
  });

test('everything that is wrong is said at once', () => {
  const argv =
    '--cluster Dev --run-user nobody --on-stop die --log-level loud --max-runs 1.5 --stop-timeout -1 --http-port 70000';
  const result = configured(argv.replace('--stop-timeout -1', '--stop-timeout=-1').split(' '));
  assert.equal(result.kind === 'errors' && result.errors.length, 7);
});

test('a key is made once, for the agent alone, and its public half is known', async (context) => {
  const keyFile = join(await tempFolder(context), 'deep', 'agent.seed');
  const publicKey = await ensureKey(keyFile);
  assert.match(publicKey, /^U[A-Z2-7]{55}$/);
  assert.equal(await ensureKey(keyFile), publicKey);
  assert.equal(publicKeyOf(new TextDecoder().decode(readSeed(keyFile))), publicKey);
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
});

test('a cluster’s incarnation is its own and stays', async () => {
  const [one, two] = [await inspectMachine(), await inspectMachine()];
  assert.equal(one.incarnationOf('dev'), two.incarnationOf('dev'));
  assert.notEqual(one.incarnationOf('dev'), one.incarnationOf('prod'));
});

test('programs are found by path or in the folders of PATH', async (context) => {
  const folder = await mkdtemp(join(await tempFolder(context), 'bin-'));
  assert.deepEqual(foldersOfPath(`/a:relative::${folder}`), ['/a', folder]);
  assert.equal(await findProgram('sh', foldersOfPath('/nowhere:/bin')), '/bin/sh');
  assert.equal(await findProgram('/bin/sh', []), '/bin/sh');
  assert.equal(await findProgram('sh', [folder]), undefined);
});
