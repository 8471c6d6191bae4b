/** Secrets of every kind, printed in every way, are in nothing that leaves a run or stays after it. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunEnd } from '../../agent/executor.ts';
import { tempFolder } from '../harness/temp.ts';
import { finishRun, jobOf, makeBed, nodeProgram, PASSPHRASE, start, type Bed } from './bed.ts';

const CANARIES = {
  env: 'canary-env "quoted" & <more>/+?=',
  file: '-----BEGIN CANARY-----\ncanary-file-first-line\ncanary-file-second-line\n-----END CANARY-----\n',
  config: 'canary-config-åäö',
} as const;

const PRINTS = `
const fs = require('node:fs');
const secrets = [process.env.CANARY ?? '', fs.readFileSync(process.env.CANARY_FILE ?? '', 'utf8'), config.get('canary') ?? ''];
for (const secret of secrets) {
  console.log('plain', secret);
  console.log('json', JSON.stringify({ secret }));
  console.log('base64', ...['', 'a', 'ab'].map((before) => Buffer.from(before + secret).toString('base64')));
  console.log('url', encodeURIComponent(secret), new URLSearchParams({ secret }).toString());
  process.stdout.write('cut ' + secret.slice(0, 5));
  process.stdout.write(secret.slice(5) + '\\n');
  console.error('error', secret);
}
new Thing('a', { path: OUT, content: pulumi.secret(secrets[0]), fail: FAIL ? secrets.join(' and ') : '' });
if (FAIL) pulumi.log.error(secrets.join('; '));
`;

/** Pieces of the secrets that stand for them in any form. */
const PIECES = [
  'canary-env',
  'canary-file-first',
  'canary-file-second',
  'canary-config',
  ...['env "quoted" & <', 'file-second-line', 'config-åä'].flatMap((piece) =>
    ['', 'a', 'ab'].map((before) =>
      Buffer.from(before + piece)
        .toString('base64')
        .slice(4, -4),
    ),
  ),
  PASSPHRASE,
  encodeURIComponent(CANARIES.env).slice(2),
];

function assertClean(text: string, where: string): void {
  for (const piece of PIECES) assert.ok(!text.includes(piece), `${piece} in ${where}:\n${text}`);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function runWith(
  bed: Bed,
  secretFile: string,
  fail: boolean,
): Promise<{ end: RunEnd; lines: readonly string[] }> {
  const body = `const OUT = ${JSON.stringify(join(bed.folder, 'out'))}; const FAIL = ${fail};\n${PRINTS}`;
  const order = await bed.order(await nodeProgram(body), {
    inputs: {
      pulumiStack: `organization/web/${fail ? 'bad' : 'good'}`,
      env: [{ name: 'CANARY', valueFrom: { env: 'CANARY_VALUE' } }],
      files: [{ path: 'deep/key.pem', valueFrom: { file: secretFile }, env: 'CANARY_FILE' }],
      configSecrets: { canary: { env: 'CANARY_CONFIG' } },
    },
  });
  const going = await start(bed.executor, jobOf(order));
  const finished = await finishRun(bed.executor, going);
  await bed.executor.cleanup(going.attempt.runId);
  return finished;
}

test('canaries', async (t) => {
  const secretFile = join(await tempFolder(t), 'secret');
  await writeFile(secretFile, CANARIES.file);
  const bed = await makeBed(t, {
    environment: {
      ...process.env,
      TEST_PASSPHRASE: PASSPHRASE,
      CANARY_VALUE: CANARIES.env,
      CANARY_CONFIG: CANARIES.config,
    },
    allowEnv: ['TEST_PASSPHRASE', 'CANARY_VALUE', 'CANARY_CONFIG'],
    allowFiles: [secretFile],
  });
  for (const fail of [false, true]) {
    const { end, lines } = await runWith(bed, secretFile, fail);
    assert.equal(end.result, fail ? 'failed' : 'succeeded', end.reason.text);
    assert.ok(
      lines.some((line) => line.includes('plain [secret]')),
      lines.join('\n'),
    );
    assertClean(lines.join('\n'), 'the output');
    assertClean(JSON.stringify(end), 'the end of the run');
  }
  assertClean(bed.logged.join(''), 'the log');
  const out = join(bed.folder, 'out');
  for (const path of await filesBelow(bed.folder))
    // what the program itself wrote, and the plugin's own copy of it, is the program's
    if (path !== out && !path.includes('/dependencies/')) assertClean(await readFile(path, 'latin1'), path);
});
