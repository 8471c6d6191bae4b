/** The sample repository of the demo: copied from beside this file, then changed by commits. */
import { execFile } from 'node:child_process';
import { access, chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { applyEdit, type Step } from './script.ts';

const run = promisify(execFile);

/** What stands in the sample for the folder in which its stacks keep their state and their signs. */
const PLACEHOLDER = 'DATA';
const SETTINGS_FILE = 'fleet.yaml';

/** Nothing of the person's or the machine's settings (signing, hooks, templates) reaches the demo. */
const GIT_SETTINGS = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Harbour Master',
  GIT_AUTHOR_EMAIL: 'master@port.example',
  GIT_COMMITTER_NAME: 'Harbour Master',
  GIT_COMMITTER_EMAIL: 'master@port.example',
};

export interface SampleRepository {
  readonly folder: string;
  /** Makes the step's commit and returns its id. */
  commit(step: Step): Promise<string>;
}

/**
 * Lays the sample out in `folder` (new), with `data` as the folder of its state and signs. Nothing is committed yet.
 * Rejects when git is missing.
 */
export async function makeSample(
  folder: string,
  data: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SampleRepository> {
  const git = (...args: string[]): Promise<string> => runGit(folder, args, environment);
  await mkdir(dirname(folder), { recursive: true });
  await cp(await sampleFolder(), folder, { recursive: true, errorOnExist: true, force: false });
  const settings = await readFile(join(folder, SETTINGS_FILE), 'utf8');
  await writeFile(join(folder, SETTINGS_FILE), settings.replaceAll(PLACEHOLDER, quoted(data)));
  await makeOpenFolder(join(data, 'state'));
  await makeOpenFolder(join(data, 'signs'));
  await git('init', '--quiet', '--initial-branch=main');
  return {
    folder,
    commit: async (step) => {
      for (const edit of step.edits) {
        const file = join(folder, edit.path);
        await writeFile(file, applyEdit(await readFile(file, 'utf8'), edit));
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--message', step.subject);
      return git('rev-parse', 'HEAD');
    },
  };
}

/** As it stands between double quotes in YAML. */
const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Runs of an agent that is root belong to another user, and that one must write here; `t` keeps the rest out. */
async function makeOpenFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o1777);
}

async function runGit(
  cwd: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const inherited = Object.entries(environment).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(inherited), ...GIT_SETTINGS };
  const { stdout } = await run('git', [...args], { cwd, env });
  return stdout.trim();
}

/** From a bundle the sample is found in the checkout that the bundle lies in. */
async function sampleFolder(): Promise<string> {
  const start = dirname(fileURLToPath(import.meta.url));
  for (const candidate of [join(start, 'port'), join(start, '../deploy/local/demo/port')]) {
    if (await exists(join(candidate, SETTINGS_FILE))) return candidate;
  }
  throw new Error(`the sample repository is missing beside ${start}`);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
