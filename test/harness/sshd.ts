/** A real ssh server on the loopback that serves a repository, where the machine has one. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atEnd, type Owner } from './owned.ts';
import { tempFolder } from './temp.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const PROGRAM = '/usr/sbin/sshd';

/** Why there is no server here; undefined: there is one. */
export const noSshd: string | undefined = existsSync(PROGRAM) ? undefined : `${PROGRAM} is not installed`;

export interface SshServer {
  readonly port: number;
  /** A line of known_hosts with the server's key. */
  readonly knownHosts: string;
  /** The private key that is let in; made with the passphrase. */
  readonly key: string;
}

/** Starts a server that lets one key in, as the user of this process. */
export async function serveSsh(owner: Owner, passphrase = ''): Promise<SshServer> {
  const folder = await tempFolder(owner, 'sshd');
  const [hostKey, key] = [join(folder, 'host'), join(folder, 'user')];
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey]);
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', key]);
  const port = await freePort();
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${key}.pub`,
    `PidFile ${join(folder, 'pid')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
  ];
  await writeFile(join(folder, 'config'), `${settings.join('\n')}\n`);
  // It gives up its rights in this folder, which Debian makes when the service starts.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const child = spawn(PROGRAM, ['-D', '-e', '-f', join(folder, 'config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  atEnd(owner, async () => {
    child.kill();
    await ended;
  });
  await until('the ssh server', () => said.includes('Server listening'));
  const [type = '', bytes = ''] = (await readFile(`${hostKey}.pub`, 'utf8')).split(' ');
  return { port, knownHosts: `[127.0.0.1]:${port} ${type} ${bytes}`, key };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
