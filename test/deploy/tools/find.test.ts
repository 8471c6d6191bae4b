import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'node:test';
import type { Environment } from '../../../deploy/tools/cache.ts';
import { wanted } from '../../../deploy/tools/catalog.ts';
import { findTools, ToolMissing } from '../../../deploy/tools/find.ts';
import { provideTools } from '../../../deploy/tools/provide.ts';
import { tempFolder } from '../../harness/temp.ts';

test('programs on PATH are used where they are new enough, through a symbolic link too', async (t) => {
  const folder = await tempFolder(t, 'tools');
  await program(join(folder, 'bin', 'nats-server'), 'nats-server: v2.15.2');
  await program(join(folder, 'pulumi', 'pulumi'), 'v3.999.0');
  for (const name of wanted.pulumi.beside) await program(join(folder, 'pulumi', name), '');
  await symlink('../pulumi/pulumi', join(folder, 'bin', 'pulumi'));
  assert.deepEqual(await findTools(emptyHome(folder)), {
    natsServer: join(folder, 'bin', 'nats-server'),
    pulumi: join(folder, 'bin', 'pulumi'),
  });
});

test('what a variable names must work', async (t) => {
  const folder = await tempFolder(t, 'tools');
  const environment = { ...emptyHome(folder), TOWLINE_NATS_SERVER: join(folder, 'nowhere') };
  await assert.rejects(findTools(environment), (error: Error) => {
    assert.ok(error instanceof ToolMissing);
    assert.match(error.message, /^TOWLINE_NATS_SERVER: .*nowhere does not start/);
    return true;
  });
});

test('without anything the message says what to do', async (t) => {
  const folder = await tempFolder(t, 'tools');
  await program(join(folder, 'bin', 'nats-server'), 'nats-server: v2.9.10');
  await assert.rejects(findTools(emptyHome(folder)), {
    message:
      `nats-server 2.11.0 or newer was not found (${folder}/bin/nats-server is version 2.9.10, at least 2.11.0 is ` +
      `needed): run “make tools”, or set TOWLINE_NATS_SERVER to its path\n` +
      `pulumi 3.274.1 or newer was not found: run “make tools”, or set TOWLINE_PULUMI to its path`,
  });
});

test('without Go, building says at once what to install', async (t) => {
  const folder = await tempFolder(t, 'tools');
  const lines: string[] = [];
  await assert.rejects(
    provideTools(emptyHome(folder), (line) => lines.push(line)),
    (error: Error) => {
      assert.ok(error instanceof ToolMissing);
      assert.match(
        error.message,
        /TOWLINE_NATS_SERVER.*TOWLINE_PULUMI.*Go is not installed: install Go 1\.\d+/,
      );
      return true;
    },
  );
  assert.deepEqual(lines, []);
});

test('with a Go that is too old, building says at once what to install', async (t) => {
  const folder = await tempFolder(t, 'tools');
  await program(join(folder, 'bin', 'go'), 'go version go1.20.1 linux/amd64');
  await assert.rejects(
    provideTools(emptyHome(folder), () => undefined),
    /Go is version 1\.20\.1: install Go 1\.\d+/,
  );
});

/** A machine on which only `bin` in the folder holds programs. */
const emptyHome = (folder: string): Environment => ({ PATH: join(folder, 'bin'), XDG_CACHE_HOME: folder });

/** A program that prints a line. */
async function program(file: string, line: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\necho '${line}'\n`);
  await chmod(file, 0o755);
}
