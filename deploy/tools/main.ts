/** `make tools`: finds or builds the programs that Towline starts, and prints where they are. */
import { BuildFailed } from './build.ts';
import type { Environment } from './cache.ts';
import { ToolMissing } from './find.ts';
import { provideTools } from './provide.ts';

/** Resolves to the exit code: 0 all there, 2 something is missing. Progress goes to standard error. */
export async function main(environment: Environment): Promise<number> {
  try {
    const tools = await provideTools(environment, (line) => process.stderr.write(`${line}\n`));
    process.stdout.write(`nats-server  ${tools.natsServer}\npulumi       ${tools.pulumi}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ToolMissing) && !(error instanceof BuildFailed)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

if (import.meta.main) process.exitCode = await main(process.env);
