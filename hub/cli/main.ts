/** The `towline` command: names its commands and hands over to the one that was asked for. */
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { keepCompiled } from './compiled.ts';

/** What each entry point exports: it takes the rest of the command line and resolves to the exit code. */
type Main = (argv: readonly string[], environment: Environment) => Promise<number>;

type Environment = Readonly<Record<string, string | undefined>>;

interface Entry {
  /** Beside the bundle of this file, the entry point's bundle is called NAME.js. */
  readonly name: string;
  /** Seen from this file. */
  readonly source: string;
  readonly doc: string;
  /** Somebody waits for its end, again and again: what Node.js compiled of it is kept for the next time. */
  readonly brief?: true;
}

/** All commands. */
export const entries: readonly Entry[] = [
  { name: 'hub', source: '../main.ts', doc: 'read Git, decide what runs, serve the API' },
  { name: 'agent', source: '../../agent/main.ts', doc: 'take the orders of one cluster and run Pulumi' },
  {
    name: 'audit',
    source: './audit/main.ts',
    doc: 'preview a project, and list what it looks at without declaring it',
  },
  {
    name: 'affected',
    source: './affected.ts',
    doc: 'tell which stacks a change would run, without a hub',
    brief: true,
  },
  {
    name: 'validate',
    source: './validate.ts',
    doc: 'tell what is wrong with manifests, without a hub',
    brief: true,
  },
  { name: 'local', source: '../../deploy/local/main.ts', doc: 'run a whole fleet on this machine' },
];

/** Exit code for a command line that makes no sense. */
const BAD_USAGE = 2;

/** Resolves to the exit code. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  let exitCode = 0;
  const program = makeProgram(async (entry, rest) => {
    if (entry.brief) keepCompiled(environment);
    exitCode = await (await load(entry))(rest, environment);
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : BAD_USAGE;
  }
}

type Run = (entry: Entry, rest: readonly string[]) => Promise<void>;

/** Flags after a command belong to that command, `--help` too. */
function makeProgram(run: Run): Command {
  const program = new Command('towline')
    .description(manifest.description)
    .version(manifest.version, '--version')
    .helpCommand(false)
    .enablePositionalOptions()
    .showHelpAfterError('(see towline --help)')
    .exitOverride();
  for (const entry of entries)
    program
      .command(entry.name)
      .description(entry.doc)
      .argument('[flags...]')
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action((rest: readonly string[]) => run(entry, rest));
  return program;
}

/** The address is computed, so that no bundle swallows another and only what is asked for is loaded. */
async function load(entry: Entry): Promise<Main> {
  const path = import.meta.url.endsWith('.ts') ? entry.source : `./${entry.name}.js`;
  const loaded = (await import(new URL(path, import.meta.url).href)) as { readonly main: Main };
  return loaded.main;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
