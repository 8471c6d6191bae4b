/** Pages of the documentation, read as data. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** The text of `docs/<name>`. */
export const readPage = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** What stands under a heading, up to the next one of any level. */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split('\n');
  const start = lines.indexOf(heading);
  assert.notEqual(start, -1, `there is no “${heading}”`);
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line));
  return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** Cells of the rows of the first table of a section, without its head. */
export function tableOf(section: string): readonly (readonly string[])[] {
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

/** What stands in backticks. */
export const codesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');

/** Blocks of code in one language. */
export const blocksOf = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block ?? '',
  );
