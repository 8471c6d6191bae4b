/** An artifact's tar → files in a fresh, private folder. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { extract, type Header } from 'tar-stream';
import { checkTree, type TreeEntry } from './tree.ts';

export type Laid = { readonly kind: 'laid' } | { readonly kind: 'refused'; readonly why: string };

interface Item extends TreeEntry {
  readonly executable: boolean;
  readonly content: Buffer;
}

/** Lays a tar into an empty folder. Nothing is written when a single entry is refused. */
export async function layOut(tar: Buffer, folder: string): Promise<Laid> {
  const items = await readTar(tar);
  const checked = checkTree(items);
  if (checked.kind === 'refused') return checked;
  const folders = new Set<string>();
  const ensure = async (path: string): Promise<void> => {
    if (path === '.' || folders.has(path)) return;
    await ensure(dirname(path));
    await mkdir(join(folder, path), { recursive: true });
    folders.add(path);
  };
  for (const [index, item] of items.entries()) {
    const path = checked.paths[index] ?? '';
    await ensure(item.type === 'directory' ? path : dirname(path));
    if (item.type !== 'directory') await place(join(folder, path), item);
  }
  return { kind: 'laid' };
}

/** Entries are new files: one that is there already would be a twin. */
async function place(path: string, item: Item): Promise<void> {
  if (item.type === 'symlink') return symlink(item.target ?? '', path);
  await writeFile(path, item.content, { flag: 'wx' });
  if (item.executable) await chmod(path, 0o755);
}

const TYPES: Readonly<Record<string, TreeEntry['type']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  symlink: 'symlink',
};

async function readTar(tar: Buffer): Promise<Item[]> {
  const items: Item[] = [];
  for await (const entry of Readable.from([tar]).pipe(extract())) {
    const header = (entry as { header: Header }).header;
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part as Buffer);
    items.push({
      name: header.name,
      type: TYPES[header.type ?? 'file'] ?? 'other',
      ...(header.linkname === undefined || header.linkname === null ? {} : { target: header.linkname }),
      executable: ((header.mode ?? 0) & 0o100) !== 0,
      content: Buffer.concat(parts),
    });
  }
  return items;
}
