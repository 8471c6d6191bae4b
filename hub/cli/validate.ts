/** `towline validate`: everything that is wrong with the manifests of a work tree, told without a hub. */
import { stat } from 'node:fs/promises';
import { basename, relative, resolve as resolvePath, dirname } from 'node:path';
import { Command } from 'commander';
import { detectAll } from '../detect.ts';
import { gitFolders } from '../git/local.ts';
import { isBelow } from '../inputs/paths.ts';
import { makeGather } from '../catalog/files.ts';
import { makeMeasure } from '../measure.ts';
import { mistakesOf } from '../mistakes.ts';
import { hasNoClusters, lookAt, surveyOf } from '../offline/look.ts';
import { elsewhereIn, fileProblem, printFileProblem, unreadIn, type FileProblem } from '../offline/report.ts';
import { workTree } from '../offline/worktree.ts';
import { plan } from '../plan.ts';
import { absenceOf, type Surveyed } from '../survey.ts';
import { runCommand } from './command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Options {
  readonly manifests: readonly string[];
  readonly json?: boolean;
}

/** Exit codes: nothing is wrong (warnings are none), or something is. */
const VALID = 0;
const INVALID = 1;

const HELP = `
Exit codes:
  0  there are no errors; there may be warnings
  1  there are errors
  2  it cannot be told: the folder cannot be read, a bad command line`;

interface Report {
  readonly stacks: number;
  readonly clusters: number;
  readonly errors: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
}

/** Resolves to the exit code. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  const program = makeProgram();
  return runCommand(program, argv, async () => {
    const options = program.opts<Options>();
    const report = await reportOn(resolvePath(program.args[0] ?? '.'), options, environment);
    process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : inWords(report));
    return report.errors.length > 0 ? INVALID : VALID;
  });
}

const makeProgram = (): Command =>
  new Command('towline validate')
    .description('tell what is wrong with the manifests of a work tree, also with what is not committed')
    .argument('[path]', 'a folder of the repository; by default the one that you are in')
    .option('--manifests <glob...>', 'files that may hold manifests, in gitignore syntax', [])
    .option('--json', 'answer in JSON')
    .addHelpText('after', HELP)
    .exitOverride();

/** The whole repository is read, since what is right in a folder depends on the rest; what is said is about the folder. */
async function reportOn(folder: string, { manifests }: Options, environment: Environment): Promise<Report> {
  if (!(await isThere(folder))) throw new Error(`${folder} is not there: name a folder of the repository`);
  const root = await rootOf(folder);
  const tree = await workTree({ git: { program: 'git', environment }, path: root, name: basename(root) });
  const now = Date.now();
  const looked = await lookAt(tree, { manifests, now, gather: makeGather() });
  const survey = await surveyOf(looked, { measure: makeMeasure(), now, anywhere: hasNoClusters(looked) });
  const unread = unreadIn(survey);
  if (unread !== undefined) throw new Error(unread);
  const within = relative(root, folder).replaceAll('\\', '/') || '.';
  const isWithin = ({ file }: { readonly file: string }): boolean => isBelow(file, within) || file === within;
  const problems = mistakesOf({ ...survey, plan: planOf(survey) });
  const ofKind = (severity: 'error' | 'warning'): FileProblem[] =>
    problems
      .filter((problem) => problem.severity === severity)
      .map(fileProblem)
      .filter(isWithin);
  const { catalog } = looked;
  const places = [
    ...catalog.stacks.map(({ origin }) => origin),
    ...catalog.refusedStacks.map(({ problem }) => problem.origin),
  ];
  return {
    stacks: places.filter(({ path }) => isWithin({ file: path })).length,
    clusters: catalog.clusters.length + catalog.refusedClusters.length,
    errors: ofKind('error'),
    warnings: [...ofKind('warning'), ...elsewhereIn(survey).filter(isWithin)],
  };
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The nearest folder above that is a repository, else the folder itself. */
async function rootOf(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await gitFolders(at)) !== undefined) return at;
    if (dirname(at) === at) return folder;
  }
}

/** What only a plan finds out: that two stacks claim the same, or that one does not fit into an order. */
const planOf = (survey: Surveyed): ReturnType<typeof plan> =>
  plan({
    ...absenceOf(survey),
    wanted: survey.measured.wanted,
    inForce: new Map(),
    seenGen: new Map(),
    republish: new Map(),
    changes: detectAll(survey.measured.wanted, new Map(), () => undefined),
  });

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function inWords({ stacks, clusters, errors, warnings }: Report): string {
  const lines = [
    ...errors.map((error) => printFileProblem('error', error)),
    ...warnings.map((warning) => printFileProblem('warning', warning)),
  ];
  const counts = [
    counted(stacks, 'stack'),
    counted(clusters, 'cluster'),
    counted(errors.length, 'error'),
    counted(warnings.length, 'warning'),
  ];
  return `${lines.join('')}${counts.join(', ')}\n`;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
