/** Paths that a program's text names: what they lead to is an input if it is there. */
import { holdsFolder, type Findings } from './findings.ts';
import { folderOf, joinPath } from './paths.ts';

/** A path as it stands in a program. */
export interface Literal {
  /** Relative, `/` between parts. */
  readonly path: string;
  /** The program appends something that only the run knows, in the middle of a name perhaps. */
  readonly open: boolean;
  /** The program reads the folder itself, and whatever is in it. */
  readonly lists: boolean;
  /** From 1. */
  readonly line: number;
}

export interface LiteralPlace {
  /** Folders that the path may be relative to. */
  readonly bases: readonly string[];
  /** Folders of the program and of the file. What holds one of them is no input just because it is named. */
  readonly homes: readonly string[];
  /** File in which it stands. */
  readonly file: string;
}

/** Takes what a path leads to; answers with the paths of files that it took. */
export function takeLiteral(findings: Findings, literal: Literal, place: LiteralPlace): readonly string[] {
  const paths = new Set(place.bases.map((base) => joinPath(base, literal.path)));
  return [...paths].flatMap((path) => {
    if (path === undefined) return [];
    const target = literal.open && !literal.path.endsWith('/') ? folderOf(path) : path;
    if (!place.homes.some((home) => holdsFolder(target, home)) || (literal.lists && !literal.open))
      return findings.take(target) === 'file' ? [target] : [];
    if (literal.open && leavesHome(literal.path)) findings.warn(unknownBelow(target, literal, place));
    return [];
  });
}

const leavesHome = (path: string): boolean => path.split('/').includes('..');

const unknownBelow = (folder: string, literal: Literal, { file }: LiteralPlace): string =>
  `${file} line ${literal.line} reads below ${folder === '.' ? 'the root of the repository' : folder} what only the run knows: list it in include`;

/** Whether a text is a path that says that it leaves a folder. Such texts are seldom anything else. */
export const isOutward = (text: string): boolean =>
  text.length <= MAX_PATH && /^(?:\.\/)*\.\.\/[^\n\0]/.test(text);

/** Characters of a path, as Linux bounds it. */
const MAX_PATH = 4096;
