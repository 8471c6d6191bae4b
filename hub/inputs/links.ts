/**
 * Symlinks among the inputs: what a link leads to is an input as well, and so is every link on the way.
 *
 * A link to nothing is left alone: it is as broken in the run as it is in the repository, and what appears at its
 * target later becomes an input then.
 */
import { isUtf8 } from 'node:buffer';
import type { Reason } from '../../shared/outcome.ts';
import { limits } from '../../shared/limits.ts';
import type { TreeEntry } from '../git/source.ts';
import { candidatesOf } from './patterns.ts';
import { folderOf, inside } from './paths.ts';
import type { Look } from './reading.ts';

export interface Links {
  /** Positions that the links add. */
  readonly found: readonly number[];
  /** Those of them that a link leads to by name, not as part of a folder. */
  readonly named: ReadonlySet<number>;
  readonly problems: readonly Reason[];
}

type Step =
  | { readonly kind: 'at'; readonly path: string; readonly through: readonly number[] }
  /** A target was not read yet. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'problem'; readonly text: string };

/**
 * Follows every symlink among the files, and those that it leads to. A link on the way is an input, but not what else
 * lies where it leads.
 */
export function followLinks(look: Look, files: Iterable<number>): Links {
  const { index } = look;
  const found = new Set<number>();
  const named = new Set<number>();
  const problems: Reason[] = [];
  const isLink = (position: number): boolean => index.entries[position]?.mode === '120000';
  const roots = new Set([...files].filter(isLink));
  // A set may grow while it is walked: what is added is walked as well.
  for (const position of roots) {
    const step = resolve(look, index.entries[position] as TreeEntry);
    if (step.kind === 'problem') problems.push({ code: 'Invalid', text: step.text });
    else if (step.kind === 'at') {
      const targets = candidatesOf(step.path, look);
      [...step.through, ...targets].forEach((target) => found.add(target));
      const exact = index.positions.get(step.path);
      if (exact !== undefined) named.add(exact);
      targets.filter(isLink).forEach((target) => roots.add(target));
    }
  }
  return { found: [...found], named, problems };
}

/** Walks a link's target part by part, since any folder on the way may be a link itself. */
function resolve(look: Look, link: TreeEntry): Step {
  const first = look.blob(link.id);
  if (first === undefined) return { kind: 'unknown' };
  if (!isUtf8(first)) return unreadable(link);
  const through: number[] = [];
  const rest = partsOf(first).reverse();
  let at = folderOf(link.path);
  for (let hops = 1; rest.length > 0;) {
    const part = rest.pop() as string;
    if (part === ABSOLUTE || (part === '..' && at === '.')) return leaves(link, first);
    if (part === '..') {
      at = folderOf(at);
      continue;
    }
    const next = inside(at, part);
    const entry = look.entry(next);
    const position = look.index.positions.get(next);
    if (position === undefined || entry?.mode !== '120000') {
      at = next;
      if (position !== undefined && rest.length > 0) break;
      continue;
    }
    if (++hops > limits.symlinkHops) return loops(link);
    const target = look.blob(entry.id);
    if (target === undefined) return { kind: 'unknown' };
    through.push(position);
    rest.push(...partsOf(target).reverse());
  }
  return { kind: 'at', path: at, through };
}

/** Stands before the parts of an absolute target; no file can bear this name. */
const ABSOLUTE = '/';

function partsOf(target: Buffer): string[] {
  const text = target.toString('utf8');
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  return text.startsWith('/') ? [ABSOLUTE, ...parts] : parts;
}

const unreadable = (link: TreeEntry): Step => ({
  kind: 'problem',
  text: `the target of the symlink ${link.path} is not valid UTF-8 and cannot be carried to a cluster`,
});

const leaves = (link: TreeEntry, target: Buffer): Step => ({
  kind: 'problem',
  text: `the symlink ${link.path} leads out of the repository (to ${JSON.stringify(target.toString('utf8'))}); runs see files of the repository only`,
});

const loops = (link: TreeEntry): Step => ({
  kind: 'problem',
  text: `the symlink ${link.path} leads through more than ${limits.symlinkHops} links, or in a circle`,
});
