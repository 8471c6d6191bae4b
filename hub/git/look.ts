/** One look at a repository: where its ref points, what is new there, and whether that may be taken. */
import { limits } from '../../shared/limits.ts';
import type { Descent, FetchOptions, GitDriver, Opened } from './driver.ts';
import { failed, refused, type Failure } from './failure.ts';
import type { Tree } from './source.ts';
import type { TipReader } from './tips.ts';

/** A ref that moved from one commit to another. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** Whether the second one has the first one among its ancestors. */
  readonly descends: Descent;
}

export type Found =
  | { readonly kind: 'unchanged' }
  | (Opened & { readonly tip: string; readonly move?: Move })
  | (Failure & {
      /** What the ref leads to, where that is known. */
      readonly tip?: string;
      readonly move?: Move;
      /** The tree of the commit in force, where nothing was read before. */
      readonly standby?: Tree;
    });

export interface Look {
  readonly driver: GitDriver;
  readonly tips: TipReader;
  readonly ref: string;
  /** `refuse`: only descendants of the commit in force are taken. */
  readonly rewrites: 'allow' | 'refuse';
  readonly last: Last;
  /** A fetch begins. */
  readonly onFetch: () => void;
  /** The mirror turned out to be damaged and is made anew now. */
  readonly corrupt: (message: string) => void;
}

/** What was found before. */
export interface Last {
  /** What the ref pointed at when the tree was read; undefined: there is no tree. */
  readonly tip: string | undefined;
  /** The ref that the tree was read at: of a range of versions, another one each time. */
  readonly ref: string | undefined;
  /** The commit in force. */
  readonly commit: string | undefined;
  /** A commit that need not be tried again yet. */
  readonly refusal?: { readonly tip: string; readonly failure: Failure } | undefined;
}

/** Asks, fetches if something is new, and reads all of it. */
export async function lookOnce(look: Look): Promise<Found> {
  const { driver, tips, last, corrupt, onFetch } = look;
  const tip = await tips.tip();
  if (tip.kind === 'failed') return tip;
  const damaged = driver.damaged();
  const { ref = look.ref } = tip;
  if (tip.id === last.tip && ref === last.ref && !damaged && driver.unfinished?.() !== true)
    return { kind: 'unchanged' };
  if (tip.id === last.refusal?.tip) return { ...last.refusal.failure, tip: tip.id };
  if (damaged) corrupt('an object of the mirror is missing or damaged');
  onFetch();
  const here = { ...look, ref };
  const at = tip.url === undefined ? {} : { url: tip.url };
  const keep = last.commit === undefined ? {} : { keep: last.commit };
  const found = await bring(here, { anew: damaged, ...at, ...keep });
  const again = found.kind === 'failed' && found.state === 'Corrupt' && !damaged;
  if (again) corrupt(found.message);
  const end = again ? await bring(here, { anew: true, ...at, ...keep }) : found;
  return end.kind === 'failed' ? { tip: tip.id, ...end } : end;
}

async function bring(look: Look, options: FetchOptions): Promise<Found> {
  const { driver, ref } = look;
  const fetched = await driver.fetch(ref, options);
  if (fetched.kind === 'failed') return fetched;
  const opened = await driver.open(fetched.id, ref);
  return opened.kind === 'failed' ? opened : take(look, { ...opened, tip: fetched.id });
}

/** Whether what was read may come into force. */
async function take(look: Look, found: Opened & { readonly tip: string }): Promise<Found> {
  const { driver, ref, rewrites, last } = look;
  const [from, to] = [last.commit, found.tree.commit.id];
  if (from === undefined || from === to) return found;
  const descends = await driver.descends(from, to, { thorough: rewrites === 'refuse' });
  const move = { from, to, descends };
  if (rewrites === 'allow' || descends === 'yes') return { ...found, move };
  const standby = last.tip === undefined ? await driver.older(from, ref) : undefined;
  return {
    ...refused(refusalOf(ref, move)),
    ...{ tip: found.tip, move },
    ...(standby?.kind === 'opened' ? { standby: standby.tree } : {}),
  };
}

const refusalOf = (ref: string, { from, to, descends }: Move): string =>
  `${ref} ${descends === 'no' ? 'was rewritten' : 'may have been rewritten'}: ${to} ${
    descends === 'no' ? 'does not descend' : 'cannot be told to descend'
  } from ${from}, which stays in force; push a commit that descends from it, or set nonFastForward: allow`;

/** What need not be tried again before `until`, after this look. */
export function refusalAfter(
  found: Found,
  now: number,
): { readonly tip: string; readonly failure: Failure; readonly until: number } | undefined {
  if (found.kind !== 'failed' || found.final !== true || found.tip === undefined) return undefined;
  const { tip, message, state } = found;
  return { tip, failure: { ...failed(state, message), final: true }, until: now + limits.refusedRetryMs };
}
