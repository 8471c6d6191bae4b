/** Whether a commit has another one among its ancestors: what tells a push from a rewritten history. */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Descent } from './driver.ts';
import { fetchInto, HEAD_REF, type Fetch } from './gitfetch.ts';
import type { GitRepository } from './repository.ts';

/** Commits that are looked at in what is here. */
const STEPS = 10_000;

/**
 * Looks for `from` among the ancestors of `to`, newest first, as far as they are here. `complete`: whatever of them is
 * not here was not sent because it was known before `from` was, so an ancestor that is not found is none.
 */
export async function descendsHere(
  repository: GitRepository,
  { from, to, complete }: { readonly from: string; readonly to: string; readonly complete: boolean },
): Promise<Descent> {
  const seen = new Set([to]);
  let whole = true;
  for (const id of seen) {
    if (id === from) return 'yes';
    if (seen.size > STEPS) return 'unknown';
    const read = await repository.commit(id);
    if (read.kind === 'commit') for (const parent of read.parents) seen.add(parent);
    else whole = false;
  }
  return whole || complete ? 'no' : 'unknown';
}

export interface AskDescent {
  readonly from: string;
  readonly to: string;
  /** Of the mirror, which holds `to`. */
  readonly folder: string;
  readonly fetch: Omit<Fetch, 'ref'>;
  /** How many commits back are looked at, from near to far. */
  readonly depths: readonly number[];
}

/** Folder of a repository that holds history only, and borrows what else it needs from the mirror. */
const pastOf = (folder: string): string => `${folder}.past`;

/** Asks the remote for history alone, where it can send that; the mirror stays as it is. */
export async function descendsThere({ from, to, folder, fetch, depths }: AskDescent): Promise<Descent> {
  const past = pastOf(folder);
  try {
    const { command } = fetch;
    const init = await command(past, ['init', '--quiet', '--bare', '--template=', past]);
    if (init.kind === 'failed') return 'unknown';
    await mkdir(join(past, 'objects', 'info'), { recursive: true });
    await writeFile(join(past, 'objects', 'info', 'alternates'), `${join(folder, 'objects')}\n`);
    // What is borrowed is cut off where the mirror is: the server must not take it for whole.
    await copyFile(join(folder, 'shallow'), join(past, 'shallow')).catch(() => undefined);
    for (const depth of depths) {
      const flags = [`--depth=${depth}`, '--filter=tree:0'];
      const tip = await fetchInto(past, { ...fetch, ref: to, into: HEAD_REF, flags });
      if (tip.kind === 'failed') return 'unknown';
      const list = await command(past, ['rev-list', `--max-count=${10 * depth}`, to]);
      if (list.kind === 'failed') return 'unknown';
      const listed = list.stdout.toString('latin1').trim().split('\n');
      if (listed.includes(from)) return 'yes';
      const cut = await readFile(join(past, 'shallow'), 'utf8').catch(() => '');
      const ends = new Set(cut.split('\n'));
      if (listed.length < 10 * depth && !listed.some((id) => ends.has(id))) return 'no';
    }
    return 'unknown';
  } finally {
    await rm(past, { recursive: true, force: true });
  }
}
