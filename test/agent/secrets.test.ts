import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { resolveValues, type Resolution, type ValueSources } from '../../agent/secrets.ts';
import type { RunInputs } from '../../shared/wire.ts';
import { tempFolder } from '../harness/temp.ts';

const sources: ValueSources = {
  environment: { TOKEN: 'token-value', EMPTY: '', OTHER: 'other-value' },
  allowEnv: ['TOKEN', 'EMPTY', 'ABSENT'],
  allowFiles: [],
};

const resolve = (inputs: Partial<RunInputs>, change: Partial<ValueSources> = {}): Promise<Resolution> =>
  resolveValues({ project: '.', pulumiStack: 's', ...inputs }, { ...sources, ...change });

async function why(inputs: Partial<RunInputs>, change: Partial<ValueSources> = {}): Promise<string> {
  const resolution = await resolve(inputs, change);
  return resolution.kind === 'refused' ? resolution.why : 'resolved';
}

test('plain values, and variables of the allow-list', async () => {
  const resolution = await resolve({
    env: [
      { name: 'PLAIN', value: 'x' },
      { name: 'SECRET', valueFrom: { env: 'TOKEN' } },
      { name: 'NOTHING', valueFrom: { env: 'EMPTY' } },
    ],
    configSecrets: { 'web:token': { env: 'TOKEN' } },
  });
  assert.ok(resolution.kind === 'resolved');
  assert.deepEqual(resolution.values.env, { PLAIN: 'x', SECRET: 'token-value', NOTHING: '' });
  assert.deepEqual(resolution.values.configSecrets, { 'web:token': 'token-value' });
  assert.ok(resolution.values.secrets.includes('token-value') && !resolution.values.secrets.includes('x'));
});

describe('what is refused names its setting and no value', () => {
  const rows: readonly (readonly [string, Partial<RunInputs>, RegExp])[] = [
    [
      'a variable that is not allowed',
      { env: [{ name: 'A', valueFrom: { env: 'OTHER' } }] },
      /^env A: .*OTHER/,
    ],
    [
      'one that is allowed and not there',
      { env: [{ name: 'A', valueFrom: { env: 'ABSENT' } }] },
      /^env A: .*ABSENT/,
    ],
    ['one that the agent sets', { env: [{ name: 'HOME', value: '/' }] }, /HOME/],
    [
      'a secret that is not allowed',
      { configSecrets: { 'web:p': { env: 'OTHER' } } },
      /^configSecrets web:p/,
    ],
    [
      'any file',
      { configSecrets: { 'web:p': { file: '/etc/hostname' } } },
      /^configSecrets web:p: .*\/etc\/hostname/,
    ],
    ['a file by half a path', { configSecrets: { 'web:p': { file: 'x' } } }, /full path/],
    ['a path that leaves', { files: [{ path: '../x', valueFrom: { env: 'TOKEN' } }] }, /leaves/],
    ['a full path', { files: [{ path: '/x', valueFrom: { env: 'TOKEN' } }] }, /leaves/],
    [
      'a variable of a file that the agent sets',
      { files: [{ path: 'x', valueFrom: { env: 'TOKEN' }, env: 'PULUMI_HOME' }] },
      /PULUMI_HOME/,
    ],
  ];
  for (const [name, inputs, expected] of rows)
    test(name, async () => {
      assert.match(await why(inputs), expected);
      assert.doesNotMatch(await why(inputs), /other-value|token-value/);
    });
});

test('files: only below what is allowed, by real path; one line end is dropped where it is a value', async (t) => {
  const folder = await tempFolder(t);
  await mkdir(join(folder, 'open'));
  await mkdir(join(folder, 'open-too'));
  await writeFile(join(folder, 'open/key'), 'file-value\n');
  await writeFile(join(folder, 'open-too/key'), 'closed');
  await writeFile(join(folder, 'closed'), 'closed');
  await symlink('../closed', join(folder, 'open/link'));
  const change = { allowFiles: [join(folder, 'open'), join(folder, 'absent')] };
  const at = (path: string): Partial<RunInputs> => ({ configSecrets: { p: { file: join(folder, path) } } });
  const good = await resolve(
    {
      ...at('open/key'),
      files: [{ path: 'a/b', valueFrom: { file: join(folder, 'open/key') }, env: 'KEY' }],
    },
    change,
  );
  assert.ok(good.kind === 'resolved');
  assert.deepEqual(good.values.configSecrets, { p: 'file-value' });
  assert.equal(good.values.files[0]?.content.toString(), 'file-value\n');
  for (const path of ['closed', 'open/link', 'open-too/key', 'open/../closed', 'open/absent'])
    assert.match(await why(at(path), change), /does not allow/, path);
  assert.equal(await why(at('closed'), { allowFiles: [join(folder, 'closed')] }), 'resolved');
});

test('a value that is no text is looked for in the forms in which it is printed', async (t) => {
  const folder = await tempFolder(t);
  const bytes = Buffer.from([0xff, 0xfe, 0x80, 0x00, 0xc3, 0x28, 0x99, 0x01]);
  await writeFile(join(folder, 'store.p12'), bytes);
  const files = [{ path: 'store.p12', valueFrom: { file: join(folder, 'store.p12') } }];
  const resolution = await resolve({ files }, { allowFiles: [folder] });
  assert.ok(resolution.kind === 'resolved');
  for (const form of [bytes.toString('base64'), bytes.toString('hex')])
    assert.ok(resolution.values.secrets.includes(form), form);
});
