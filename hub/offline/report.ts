/** Problems as the offline commands print them. */
import type { Problem } from '../catalog/catalog.ts';
import { printIdentity, problemOfReason } from '../problem.ts';
import type { Surveyed } from '../survey.ts';

export interface FileProblem {
  /** From the repository's root. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** A problem of the one repository that is looked at. */
export const fileProblem = ({ origin, identity, text }: Problem): FileProblem => ({
  file: origin.path,
  line: origin.line,
  message: identity === undefined ? text : `${printIdentity(identity)}: ${text}`,
});

/** One line, as compilers print it. */
export const printFileProblem = (kind: 'error' | 'warning', { file, line, message }: FileProblem): string =>
  `${file}:${line}: ${kind}: ${message}\n`;

/** What could not be read: with it nothing can be said of what else is the same or another. */
export function unreadIn({ measured }: Surveyed): string | undefined {
  return measured.refused.find(({ reason }) => reason.code === 'SourceUnavailable')?.reason.text;
}

/** Stacks whose program is at another ref than the one that is looked at: nothing can be said of it. */
export const elsewhereIn = ({ resolution }: Surveyed): readonly FileProblem[] =>
  resolution.refused
    .filter(({ reason }) => reason.code === 'SourceUnavailable')
    .map(({ stack, origin, reason }) =>
      fileProblem(problemOfReason({ origin, identity: { kind: 'Stack', ...stack }, reason })),
    );
