/** `towline affected`: which stacks a change would run, told without a hub. */
import { basename, resolve as resolvePath } from 'node:path';
import { Command } from 'commander';
import { makeGather } from '../catalog/files.ts';
import type { Tree } from '../git/source.ts';
import { isBelow } from '../inputs/paths.ts';
import { makeMeasure } from '../measure.ts';
import { compare, type Affected, type Comparison } from '../offline/compare.ts';
import { hasNoClusters, lookAt, surveyOf } from '../offline/look.ts';
import { printFileProblem, unreadIn } from '../offline/report.ts';
import { openRepository } from '../offline/revision.ts';
import type { Surveyed } from '../survey.ts';
import { runCommand, UNKNOWN } from './command.ts';
import { folderOf } from './folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Options {
  readonly repo: string;
  readonly from: string;
  readonly to: string;
  readonly path: string;
  readonly manifests: readonly string[];
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** Exit codes: nothing is affected, or something is; UNKNOWN also where it cannot be told completely. */
const NONE = 0;
const SOME = 1;

const HELP = `
Exit codes:
  0  no stack is affected
  1  some are
  2  it cannot be told, or not completely: a revision that is not there, errors in manifests, a bad command line`;

/** Resolves to the exit code. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  const program = makeProgram();
  return runCommand(program, argv, () => answer(program.opts<Options>(), environment));
}

const makeProgram = (): Command =>
  new Command('towline affected')
    .description('tell which stacks a change would run, without a hub')
    .requiredOption('--repo <path>', 'the repository: root of a work tree, or a bare one')
    .requiredOption('--from <rev>', 'the revision that runs now; a commit id is taken as it is')
    .requiredOption('--to <rev>', 'the revision that is asked about')
    .option('--path <dir>', 'only stacks in or below this folder of the repository', '.')
    .option('--manifests <glob...>', 'files that may hold manifests, in gitignore syntax', [])
    .option('--explain', 'say why, with the files and fields that differ')
    .option('--json', 'answer in JSON')
    .addHelpText('after', HELP)
    .exitOverride();

async function answer(options: Options, environment: Environment): Promise<number> {
  const folder = folderOf(options.path);
  const path = resolvePath(options.repo);
  const git = { program: 'git', environment };
  const repository = await openRepository({ git, path, name: basename(path) });
  try {
    const now = Date.now();
    const trees = { from: await repository.open(options.from), to: await repository.open(options.to) };
    await mustHave(folder, [trees.from, trees.to]);
    const looking = { manifests: options.manifests, now, gather: makeGather() };
    const from = await lookAt(trees.from, looking);
    const to = await lookAt(trees.to, looking);
    const anywhere = hasNoClusters(from) && hasNoClusters(to);
    const measuring = { measure: makeMeasure(), now, anywhere };
    const before = mustBeRead(await surveyOf(from, measuring));
    const after = mustBeRead(await surveyOf(to, measuring));
    const comparison = compare(before, after, { folder });
    const commits = { from: trees.from.commit.id, to: trees.to.commit.id };
    process.stdout.write(
      options.json === true ? inJson(comparison, commits, options) : inWords(comparison, options),
    );
    return exitCode(comparison);
  } finally {
    await repository.close();
  }
}

/** A folder that neither revision has is a mistake in the command: “nothing is affected” would hide it. */
async function mustHave(folder: string, trees: readonly Tree[]): Promise<void> {
  if (folder === '.') return;
  const entries = (await Promise.all(trees.map((tree) => tree.entries()))).flat();
  if (!entries.some(({ path }) => path === folder || isBelow(path, folder)))
    throw new Error(
      `--path ${folder}: neither revision has it; name a folder from the root of the repository`,
    );
}

/** Something that cannot be read says nothing of what it was: neither that it changed nor that it did not. */
function mustBeRead(survey: Surveyed): Surveyed {
  const unread = unreadIn(survey);
  if (unread !== undefined) throw new Error(unread);
  return survey;
}

const exitCode = ({ affected, errors }: Comparison): number =>
  errors.length > 0 ? UNKNOWN : affected.length > 0 ? SOME : NONE;

function inJson(
  { affected, unaffected, errors }: Comparison,
  { from, to }: { readonly from: string; readonly to: string },
  { explain }: Options,
): string {
  const told = affected.map(({ reasons, ...one }) => ({
    ...one,
    reasons: reasons.map(({ code, text, inputs }) => ({
      code,
      ...(explain === true ? { text } : {}),
      inputs,
    })),
  }));
  return `${JSON.stringify({ from, to, affected: told, unaffected, errors })}\n`;
}

function inWords({ affected, unaffected, errors }: Comparison, { explain }: Options): string {
  const lines = affected.map((one) => `${line(one)}\n${explain === true ? why(one) : ''}`);
  const problems = errors.map((error) => printFileProblem('error', error));
  return [...lines, ...problems, `${affected.length} affected, ${unaffected} not\n`].join('');
}

const line = ({ decision, stack, cluster }: Affected): string =>
  `${decision.padEnd(9)} ${stack} on ${cluster}`;

const why = ({ reasons }: Affected): string =>
  reasons
    .flatMap(({ code, text, inputs }) => [`  ${code}: ${text}`, ...inputs.map(({ path }) => `    ${path}`)])
    .map((text) => `${text}\n`)
    .join('');

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
