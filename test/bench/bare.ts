/** The same project without Towline: what a person would run in a folder of their own. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { environmentOf } from '../../agent/pulumi/command.ts';
import type { Changes } from '../harness/git.ts';
import type { Estate } from './estate.ts';
import { packageFiles, PASSPHRASE, typescript, type Timed } from './landscape.ts';

export interface Bare {
  /** Brings the next version in with `pulumi up`; resolves to its time from start to end, ms. */
  up(version: number): Promise<number>;
}

const run = promisify(execFile);

/** A folder with the project, its dependencies installed and its stack made; nothing of it is timed. */
export async function makeBare(estate: Estate, timed: Timed): Promise<Bare> {
  const folder = join(estate.folder, 'bare', timed.name);
  await mkdir(folder, { recursive: true });
  const place = join(folder, 'note.txt');
  const stack = ['--non-interactive', '--stack', `organization/${timed.name}/bare`];
  if (timed === typescript) await installInto(folder, estate.ending);
  await lay(folder, timed.files(place, 0));
  const env = await environment(estate, folder);
  const pulumi = (...args: readonly string[]): Promise<unknown> =>
    run(estate.counter.program, [...args], { cwd: folder, env, signal: estate.ending });
  await pulumi('stack', 'init', ...stack);
  return {
    up: async (version) => {
      await lay(folder, timed.files(place, version));
      const begun = performance.now();
      await pulumi('up', '--yes', '--skip-preview', ...stack);
      return performance.now() - begun;
    },
  };
}

async function lay(folder: string, files: Changes): Promise<void> {
  for (const [path, content] of Object.entries(files))
    if (content !== null) await writeFile(join(folder, path), content);
}

async function installInto(folder: string, signal: AbortSignal): Promise<void> {
  await lay(folder, await packageFiles());
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['ci', ...flags], { cwd: folder, signal });
}

/** The environment that an agent gives to its runs, with folders of its own. */
async function environment(estate: Estate, folder: string): Promise<Record<string, string>> {
  const inside = (name: string): string => join(dirname(folder), `${name}-of-bare`);
  const places = { home: inside('home'), temp: inside('temp'), pulumiHome: join(inside('home'), '.pulumi') };
  await mkdir(places.pulumiHome, { recursive: true });
  await mkdir(places.temp, { recursive: true });
  const backend = { url: `file://${estate.state}` };
  return environmentOf({
    order: { inputs: { project: '.', pulumiStack: 'bare', backend } },
    places,
    path: [
      dirname(process.execPath),
      ...(process.env['PATH'] ?? '').split(delimiter),
      dirname(estate.counter.program),
    ],
    resolved: { PULUMI_CONFIG_PASSPHRASE: PASSPHRASE.value },
    marks: {},
  });
}
