/** The real programs that tests run against, looked up once per test process. */
import { dirname } from 'node:path';
import { buildTool } from '../../deploy/tools/build.ts';
import { openWorkshop } from '../../deploy/tools/cache.ts';
import { tools } from '../../deploy/tools/catalog.ts';
import { findTools, type Tools } from '../../deploy/tools/find.ts';

let found: Promise<Tools> | undefined;

/** Paths of nats-server and pulumi. Rejects with what to do when one is missing; builds nothing. */
export function testTools(): Promise<Tools> {
  found ??= findTools(process.env);
  return found;
}

let lfs: Promise<string> | undefined;

/** Folder of git-lfs, for a PATH. Builds it once on a machine, in less than a minute. */
export function gitLfs(): Promise<string> {
  lfs ??= openWorkshop(process.env).then(async (workshop) =>
    dirname(await buildTool(workshop, tools['git-lfs'], () => undefined)),
  );
  return lfs;
}
