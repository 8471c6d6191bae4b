/** What strace wrote, one file a thread → what the programs of a run looked at. Pure. */
import { posix } from 'node:path';

/** A question that was answered. */
export interface Asked {
  /** Full path. */
  readonly path: string;
  /** The names in a folder were asked for. */
  readonly list: boolean;
}

/** Flags of strace: what is noted, of all threads, each in a file of its own, without what failed. */
export const STRACE_FLAGS: readonly string[] = [
  '-ff',
  '-y',
  '-qq',
  '-z',
  '-s',
  '4096',
  '-e',
  'trace=%file,getdents64,chdir,clone,clone3,fork,vfork',
];

/** Programs that look around for their own sake: what they read decides nothing that a program makes. */
const OWN_PROGRAMS = /^(pulumi|pulumi-language-.*|git)$/;

/** `files`: thread id to text. The one that nobody began is the first, and began in `cwd`. */
export function readTrace(files: ReadonlyMap<number, string>, cwd: string): Asked[] {
  const asked = new Map<string, Asked>();
  const begun = new Set([...files.values()].flatMap((text) => text.split('\n').flatMap(childOf)));
  const open: { readonly id: number; readonly image: string; readonly cwd: string }[] = [...files.keys()]
    .filter((id) => !begun.has(id))
    .map((id) => ({ id, image: '', cwd }));
  const done = new Set<number>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const text = files.get(next.id);
    if (text === undefined || done.has(next.id)) continue;
    done.add(next.id);
    let { image, cwd: at } = next;
    for (const line of text.split('\n')) {
      const call = readCall(line);
      if (call === undefined) continue;
      at = call.at ?? at;
      if (call.child !== undefined) open.push({ id: call.child, image, cwd: at });
      else if (call.name === 'execve') image = posix.basename(call.path ?? '');
      else if (call.name === 'chdir') at = posix.resolve(at, call.path ?? '');
      else if (call.path !== undefined && !OWN_PROGRAMS.test(image)) {
        const path = posix.resolve(at, call.path);
        const list = call.name === 'getdents64';
        asked.set(`${path}\0${list}`, { path, list });
      }
    }
  }
  return [...asked.values()];
}

interface Call {
  readonly name: string;
  /** From the folder of the call. */
  readonly path?: string;
  /** The folder of the thread, where the line tells it. */
  readonly at?: string;
  /** The thread that it began. */
  readonly child?: number;
}

/** A folder that strace names beside AT_FDCWD or a descriptor, then the path in quotes. */
const AT = /^(\w+)\((?:(AT_FDCWD)<([^>]*)>, )?(?:\d+<([^>]*)>, ?)?(?:"((?:[^"\\]|\\.)*)")?/;
const CHILD = /^(?:clone3?|v?fork)\(.*= (\d+)$/;

function childOf(line: string): number[] {
  const child = CHILD.exec(line)?.[1];
  return child === undefined ? [] : [Number(child)];
}

function readCall(line: string): Call | undefined {
  const [child] = childOf(line);
  if (child !== undefined) return { name: 'clone', child };
  const [, name, , cwd, folder, quoted] = AT.exec(line) ?? [];
  if (name === undefined) return undefined;
  const at = cwd === undefined ? {} : { at: unescape(cwd) };
  if (name === 'getdents64') return folder === undefined ? undefined : { name, path: unescape(folder) };
  if (quoted === undefined) return { name, ...at };
  const path = unescape(quoted);
  // an empty path is about the descriptor, whose opening was told before
  if (path === '') return { name, ...at };
  return { name, path: folder === undefined ? path : posix.resolve(unescape(folder), path), ...at };
}

/** Octal and the usual escapes of C, over the bytes of UTF-8. */
function unescape(text: string): string {
  const bytes: number[] = [];
  for (let n = 0; n < text.length; n++) {
    if (text[n] !== '\\') {
      bytes.push(...Buffer.from(String.fromCodePoint(text.codePointAt(n) ?? 0)));
      if ((text.codePointAt(n) ?? 0) > 0xffff) n++;
      continue;
    }
    const octal = /^[0-7]{1,3}/.exec(text.slice(n + 1, n + 4))?.[0];
    const letter = text[n + 1] ?? '';
    bytes.push(octal === undefined ? (LETTERS[letter] ?? letter.charCodeAt(0)) : Number.parseInt(octal, 8));
    n += octal?.length ?? 1;
  }
  return Buffer.from(bytes).toString();
}

const LETTERS: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, v: 11, f: 12 };
