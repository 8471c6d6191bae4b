/** The real programs that tests run against, looked up once per test process. */
import { findTools, type Tools } from '../../deploy/tools/find.ts';

let found: Promise<Tools> | undefined;

/** Paths of nats-server and pulumi. Rejects with what to do when one is missing; builds nothing. */
export function testTools(): Promise<Tools> {
  found ??= findTools(process.env);
  return found;
}
