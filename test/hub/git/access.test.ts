import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeAccess, type Access, type Login } from '../../../hub/git/access.ts';
import type { Credentials } from '../../../hub/git/credentials.ts';
import { tempFolder } from '../../harness/temp.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

async function login(access: Access): Promise<Login> {
  const found = await access.login();
  assert.equal(found.kind, 'login', JSON.stringify(found));
  return found;
}

test('a secret that changes counts from the next use on; one that is gone or empty is said with its place', async (t) => {
  const folder = await tempFolder(t, 'access');
  const file = join(folder, 'token');
  await writeFile(file, 'first-token\n');
  const access = makeAccess({
    credentials: { kind: 'basic', username: 'bot', password: { file } },
    environment: {},
    folder: join(folder, 'keys'),
  });
  assert.equal((await login(access)).authorization, basic('bot:first-token'));
  await writeFile(file, 'second-token');
  assert.equal((await login(access)).authorization, basic('bot:second-token'));
  const words = 'remote: bad second-token and Zmlyc3QtdG9rZW4= first-token ' + basic('bot:second-token');
  assert.doesNotMatch(access.redact(words), /first-token|second-token|Ym90/);
  await writeFile(file, ' \n');
  const empty = await access.login();
  assert.ok(
    empty.kind === 'failed' && empty.state === 'AuthFailed' && empty.message.includes(`${file} is empty`),
  );
  await rm(file);
  const gone = await access.login();
  assert.ok(gone.kind === 'failed' && gone.state === 'AuthFailed' && gone.message.includes(file));
});

test('a variable that is not set is said by name', async () => {
  const credentials: Credentials = { kind: 'basic', username: 'x', password: { env: 'TOKEN' } };
  const none = await makeAccess({ credentials, environment: {}, folder: '/nowhere' }).login();
  assert.ok(none.kind === 'failed' && none.state === 'AuthFailed' && /variable TOKEN/.test(none.message));
});

test('keys for ssh lie in files of this user alone, follow their source, and go when it closes', async (t) => {
  const folder = await tempFolder(t, "it's access");
  const key = join(folder, 'key');
  await writeFile(key, 'KEY ONE', { mode: 0o644 });
  const keys = join(folder, 'keys');
  const access = makeAccess({
    credentials: {
      kind: 'ssh',
      knownHosts: 'git.example.com ssh-ed25519 AAAA',
      privateKey: { file: key },
      passphrase: { env: 'PASSPHRASE' },
    },
    environment: { PASSPHRASE: 'open-sesame' },
    folder: keys,
  });
  const { environment } = await login(access);
  assert.match(environment['GIT_SSH_COMMAND'] ?? '', /^ssh .*StrictHostKeyChecking=yes/);
  assert.doesNotMatch(
    JSON.stringify([environment['GIT_SSH_COMMAND'], environment['SSH_ASKPASS']]),
    /sesame|KEY ONE/,
  );
  assert.equal(await readFile(join(keys, 'key'), 'utf8'), 'KEY ONE\n');
  for (const [name, mode] of [
    ['.', 0o700],
    ['key', 0o600],
    ['known_hosts', 0o600],
    ['askpass', 0o700],
  ] as const)
    assert.equal((await stat(join(keys, name))).mode & 0o777, mode, name);
  assert.doesNotMatch(await readFile(join(keys, 'askpass'), 'utf8'), /sesame/);
  await writeFile(key, 'KEY TWO');
  await login(access);
  assert.equal(await readFile(join(keys, 'key'), 'utf8'), 'KEY TWO\n');
  await access.close();
  assert.ok(!existsSync(keys));
});

test('a file of host keys without any lets nobody in', async (t) => {
  const file = join(await tempFolder(t, 'access'), 'known_hosts');
  await writeFile(file, '# nothing yet\n');
  const access = makeAccess({
    credentials: { kind: 'ssh', knownHosts: { file } },
    environment: {},
    folder: '/nowhere',
  });
  const found = await access.login();
  assert.ok(found.kind === 'failed' && /knownHosts holds no key/.test(found.message));
});
