import assert from 'node:assert/strict';
import { join } from 'node:path';
import { makeAccess } from '../../../hub/git/access.ts';
import { makeIsomorphic, type IsomorphicOptions } from '../../../hub/git/isomorphic.ts';
import type { GitDriver } from '../../../hub/git/driver.ts';
import { readRemote } from '../../../hub/git/remote.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { driverContract, type MakeDriver } from './driver.contract.ts';
import { hostileContract } from './hostile.contract.ts';

function eachContract(title: string, make: MakeDriver): void {
  driverContract(title, make);
  hostileContract(title, make);
}

const NO_ACCESS = makeAccess({ credentials: { kind: 'none' }, environment: {}, folder: '/nowhere' });

/** There is no git program here. */
const NO_GIT = { program: '/nowhere/git', environment: {} };

async function isomorphicOf(
  owner: Owner,
  url: string,
  more: Partial<IsomorphicOptions> = {},
): Promise<GitDriver> {
  const remote = readRemote(url);
  assert.ok(remote.kind === 'http');
  const folder = join(await tempFolder(owner, 'mirror'), 'r');
  const driver = await makeIsomorphic({ git: NO_GIT, name: 'r', remote, access: NO_ACCESS, folder, ...more });
  atEnd(owner, () => driver.close());
  return driver;
}

eachContract('isomorphic mirror over HTTP', async (owner, repository) =>
  isomorphicOf(owner, (await serveGit(owner, repository)).url),
);
