/** What git prints, as values. Pure. */
import { isUtf8 } from 'node:buffer';
import type { Commit } from './source.ts';

/**
 * A path as a string. A byte that is not UTF-8 becomes the unpaired surrogate U+DC00 + byte, which no valid name decodes
 * to: two different names never become one, and such a name is recognised by `isWellFormed()`.
 */
export function decodePath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let path = '';
  for (let at = 0; at < bytes.length;) {
    const length = utf8Length(bytes, at);
    path +=
      length === 0
        ? String.fromCharCode(0xdc00 + (bytes[at] as number))
        : bytes.toString('utf8', at, at + length);
    at += Math.max(1, length);
  }
  return path;
}

/** Bytes of the valid character at a position; 0: there is none. */
function utf8Length(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++)
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  return 0;
}

/** Longest subject and author that is kept: they stand in orders, tables and statuses. */
const LINE_CHARACTERS = 200;

/** Of any date: a commit may claim a time that no message could carry. */
const LATEST_MS = 8_640_000_000_000_000;

/** A commit object, with the ids of its tree and its parents. */
export function decodeCommit(
  id: string,
  content: Buffer,
): { commit: Commit; tree: string; parents: readonly string[] } {
  const text = textOf(content);
  const end = text.indexOf('\n\n');
  const head = end < 0 ? text : text.slice(0, end);
  const message = end < 0 ? '' : text.slice(end + 2);
  const field = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(head)?.[1] ?? '';
  const seconds = Number(/ (\d+) [+-]\d+$/.exec(field('committer'))?.[1] ?? 0);
  const commit = {
    id,
    subject: line(message.trimStart().split(/\n\s*\n/)[0] ?? ''),
    author: line(field('author').replace(/ -?\d+ [+-]\d+$/, '')),
    time: Math.min(seconds * 1000, LATEST_MS),
  };
  const parents = [...head.matchAll(/^parent ([0-9a-f]{40,64})$/gm)].map((match) => match[1] as string);
  return { commit, tree: field('tree'), parents };
}

/** What an annotated tag is about. */
export const tagTarget = (content: Buffer): string | undefined =>
  /^object ([0-9a-f]{40,64})$/m.exec(content.toString('latin1', 0, 80))?.[1];

/** Commits may declare another encoding; an unknown one is read as Latin-1, in which every byte is something. */
function textOf(content: Buffer): string {
  const head = content.subarray(0, Math.max(0, content.indexOf('\n\n'))).toString('latin1');
  const encoding = /^encoding (\S+)$/m.exec(head)?.[1];
  if (encoding === undefined) return content.toString('utf8');
  try {
    return new TextDecoder(encoding).decode(content);
  } catch {
    return content.toString('latin1');
  }
}

/** One line without control characters and characters that turn the direction of text. */
const line = (text: string): string =>
  text
    .replaceAll(/[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
    .slice(0, LINE_CHARACTERS)
    .toWellFormed();
