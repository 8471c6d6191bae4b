/** `towline audit DIR`: what a program looks at that its stack does not declare, before a hub ever sees it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { declaredOf } from './declared.ts';
import { printFindings } from './findings.ts';
import { canStart, hasStrace, preview, TRACERS, type Tracer } from './preview.ts';

const HELP = `usage: towline audit [flags] DIR

Previews the project in DIR, with the environment and the selected stack as they are, and lists what its programs looked
at that is in the repository and not among the inputs of the stacks that are committed for it.

  --stack NAME       the Pulumi stack; default: the selected one
  --include PATTERN  what else is declared; may be repeated
  --tracer NAME      strace: every program; guard: those of Node.js and Python. Default: strace where it may trace
  --pulumi PATH      the Pulumi CLI; default: pulumi
  --json             {"tracer","findings":[{"path","include"}]} on standard output

Exit code: 0 nothing is undeclared, 1 something is, 2 it cannot be told (the message says why).
`;

const FLAGS = {
  stack: { type: 'string' },
  include: { type: 'string', multiple: true },
  tracer: { type: 'string' },
  pulumi: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Exit codes. */
const NOTHING = 0;
const SOMETHING = 1;
const UNKNOWN = 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves to the exit code. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  const parsed = parse(argv);
  if (typeof parsed === 'string') return complain(`${parsed}\n(see towline audit --help)`);
  const { flags, folder } = parsed;
  if (flags.help === true) {
    process.stdout.write(HELP);
    return NOTHING;
  }
  if (folder === undefined || !(await isFolder(folder)))
    return complain('name one folder with a Pulumi.yaml');
  const wish = {
    folder: resolve(folder),
    stack: flags.stack ?? 'dev',
    include: flags.include ?? [],
    environment,
  };
  const declared = await declaredOf(wish);
  if (declared.kind === 'unknown') return complain(declared.why);
  const tracer = flags.tracer ?? ((await hasStrace(environment)) ? 'strace' : 'guard');
  const { root, surroundings } = declared;
  const { pulumi = 'pulumi', stack } = flags;
  const subject = { folder: wish.folder, pulumi, stack, root, surroundings, environment };
  if (!(await canStart(subject)))
    return complain(`${pulumi} cannot be started: install the Pulumi CLI, or name it with --pulumi PATH`);
  const { exit, findings } = await preview(subject, tracer as Tracer);
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ tracer, findings })}\n`);
  // of a program that did not run to its end, “nothing” would be wrong
  else if (exit === 0 || findings.length > 0) process.stdout.write(printFindings(findings));
  if (exit !== 0)
    return complain(
      `the preview ended with ${exit ?? 'no exit code'}, so there may be more: mend what it says above, and ask again`,
    );
  return findings.length === 0 ? NOTHING : SOMETHING;
}

function parse(argv: readonly string[]) {
  try {
    const { values: flags, positionals } = parseArgs({
      args: [...argv],
      options: FLAGS,
      allowPositionals: true,
    });
    if (positionals.length > 1) return `one folder at a time, not also ${positionals[1]}`;
    if (flags.tracer !== undefined && !TRACERS.some((name) => name === flags.tracer))
      return `--tracer must be one of ${TRACERS.join(', ')}`;
    return { flags, folder: positionals[0] };
  } catch (error) {
    return (error as Error).message;
  }
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return UNKNOWN;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
