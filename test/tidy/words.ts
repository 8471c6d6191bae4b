/** What no text file of the project says. */
import type { Finding } from './finding.ts';

export interface Text {
  readonly path: string;
  readonly text: string;
}

/** Pattern → why it has no place here. The patterns do not match themselves. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/, 'unfinished work: finish it'],
  [/\beslint-disa[b]le|@ts-(igno[r]e|expect-er[r]or|noche[c]k)|prettier-igno[r]e\b/, 'a switched-off check'],
  [
    /\b(registry\.npmjs\.org|(proxy|sum)\.golang\.org|pypi\.org|pythonhosted\.org|deb\.debian\.org)\b/,
    'a registry host',
  ],
  [/(?<![\w.$}~-])\/(work|root|farm|home\/\w+)\//, 'a path of one machine'],
  [/\b(this (brie[f]|tas[k]|issu[e])|the brie[f])\b/i, 'the project speaks of itself only'],
  [/\b(A[I]|LL[M]|assistan[t]|language mode[l]|Claud[e]|ChatGP[T])\b/, 'the project speaks of itself only'],
  [/\b(issue|task) #?\d+\b|\bdesign (page )?\d\b/i, 'a reference that readers do not have'],
  [/\b(for n[o]w|not (yet )?implemen[t]ed|quick ha[c]k)\b/i, 'unfinished work: finish it'],
];

/** Lines that say what they should not. */
export const forbiddenWords = (texts: readonly Text[]): readonly Finding[] =>
  texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((content, index) =>
      FORBIDDEN.filter(([pattern]) => pattern.test(content)).map(([pattern, why]) => ({
        path,
        line: index + 1,
        message: `“${pattern.exec(content)?.[0] ?? ''}”: ${why}`,
      })),
    ),
  );
