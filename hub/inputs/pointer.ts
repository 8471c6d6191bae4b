/** Pointers of Git LFS: what is committed in place of content that is kept elsewhere. Pure. */

/** `unreadable`: it begins like a pointer and is none that can be followed; the text says why. */
export type Pointer =
  | { readonly kind: 'pointer'; readonly oid: string; readonly size: number }
  | { readonly kind: 'unreadable'; readonly text: string };

/** Larger files are content (the specification of Git LFS). */
const MOST_BYTES = 1024;

/** The specification by the names that it had. */
const VERSIONS: ReadonlySet<string> = new Set([
  'https://git-lfs.github.com/spec/v1',
  'https://hawser.github.com/spec/v1',
  'http://git-media.io/v/2',
]);

/** Undefined: content as any other. */
export function parsePointer(content: Uint8Array): Pointer | undefined {
  if (content.length > MOST_BYTES) return undefined;
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1');
  if (!text.startsWith('version ')) return undefined;
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '');
  const [version = '', ...rest] = lines.map(fieldOf);
  if (version[0] !== 'version' || !VERSIONS.has(version[1] ?? '')) return undefined;
  if (rest.some(([key]) => key.startsWith('ext-')))
    return { kind: 'unreadable', text: 'it needs extensions of Git LFS, which are programs of their own' };
  return pointerOf(rest);
}

type Field = readonly [key: string, value: string];

function fieldOf(line: string): Field {
  const cut = line.indexOf(' ');
  return cut < 0 ? [line, ''] : [line.slice(0, cut), line.slice(cut + 1)];
}

const OID = /^sha256:([0-9a-f]{64})$/;
const SIZE = /^(?:0|[1-9][0-9]{0,14})$/;

function pointerOf(fields: readonly Field[]): Pointer {
  const [[first, oid], [second, size]] = [fields[0] ?? ['', ''], fields[1] ?? ['', '']];
  const hex = first === 'oid' ? OID.exec(oid)?.[1] : undefined;
  if (hex === undefined) return { kind: 'unreadable', text: 'its second line is no “oid sha256:…”' };
  if (second !== 'size' || !SIZE.test(size))
    return { kind: 'unreadable', text: 'its third line is no “size” in bytes' };
  if (fields.length > 2) return { kind: 'unreadable', text: 'it has lines beyond version, oid and size' };
  return { kind: 'pointer', oid: hex, size: Number(size) };
}

/** A pointer in the one form that Git LFS writes. */
export const pointerText = ({ oid, size }: { readonly oid: string; readonly size: number }): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
