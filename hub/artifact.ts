/** The input files of a placement as one sealed tar. Equal lists of files give equal bytes, different ones different. */
import { isUtf8 } from 'node:buffer';
import { pack, type Header } from 'tar-stream';
import { limits } from '../shared/limits.ts';
import { seal, type Sealed } from '../shared/seal.ts';
import { OversizedBlobError, type TreeEntry } from './git/source.ts';
import { sizeOfLarge, type Contents } from './large.ts';

/** The files make no artifact: too large, or of a kind that cannot be carried. The message is for people. */
export class UnbuildableError extends Error {}

/** Files that are named when an artifact is too large. */
const BIGGEST = 10;

/** A header and its padding, roughly: what a file costs beyond its content. */
const ENTRY_BYTES = 1024;

/**
 * Reads the files one by one and seals them. Rejects with UnbuildableError when the tar would be larger than
 * limits.artifactBytes, and with the tree's error when a file cannot be read. What is too large by its pointers alone is
 * not brought from anywhere.
 */
export async function buildArtifact(
  contents: Contents,
  files: readonly TreeEntry[],
  hubSecret: Uint8Array,
): Promise<Sealed> {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const tar = pack();
  const chunks: Buffer[] = [];
  tar.on('data', (chunk) => chunks.push(chunk as Buffer));
  const ended = new Promise<void>((resolve, reject) => void tar.once('end', resolve).once('error', reject));
  const sizes: { path: string; size: number }[] = [];
  let total = 0;
  let ahead = sizeOfLarge(sorted, contents);
  for (const file of sorted) {
    const fits = total + ahead <= limits.artifactBytes;
    const read = file.mode === '160000' ? Buffer.alloc(0) : await contentOf(contents, file, fits);
    const size = typeof read === 'number' ? read : read.length;
    sizes.push({ path: file.path, size });
    total += size + ENTRY_BYTES;
    ahead -= contents.sizeOf(file.id) ?? 0;
    // Once over the bound, only sizes are still of interest.
    if (typeof read === 'number' || total > limits.artifactBytes) chunks.length = 0;
    else if (file.mode === '100644' || file.mode === '100755') tar.entry(headerOf(file, read), read);
    else tar.entry(headerOf(file, read));
  }
  tar.finalize();
  await ended;
  const bytes = Buffer.concat(chunks);
  const size = Math.max(total, bytes.length);
  if (size > limits.artifactBytes) throw new UnbuildableError(tooLarge(size, sizes));
  return seal(bytes, hubSecret);
}

/** The content, or only its size when it is too large to be held, or to be brought from elsewhere. */
async function contentOf(contents: Contents, { id }: TreeEntry, fits: boolean): Promise<Buffer | number> {
  const elsewhere = contents.sizeOf(id);
  if (elsewhere !== undefined && !fits) return elsewhere;
  try {
    return await contents.blob(id);
  } catch (error) {
    if (error instanceof OversizedBlobError) return error.size;
    throw error;
  }
}

/** Nothing of a machine or a moment is in it. A submodule is an empty folder that bears the id it stands for. */
function headerOf({ path, mode, id }: TreeEntry, content: Buffer): Partial<Header> & Pick<Header, 'name'> {
  const common = { name: path, uid: 0, gid: 0, uname: '', gname: '', mtime: new Date(0) };
  switch (mode) {
    case '100644':
      return { ...common, type: 'file', mode: 0o644 };
    case '100755':
      return { ...common, type: 'file', mode: 0o755 };
    case '160000':
      return { ...common, type: 'directory', mode: 0o755, pax: { 'TOWLINE.submodule': id } };
    case '120000':
      if (content.length === 0 || !isUtf8(content))
        throw new UnbuildableError(`the target of the symlink ${path} is empty or not valid UTF-8`);
      return { ...common, type: 'symlink', mode: 0o777, linkname: content.toString('utf8') };
  }
}

function tooLarge(total: number, sizes: readonly { path: string; size: number }[]): string {
  const biggest = [...sizes].sort((a, b) => b.size - a.size).slice(0, BIGGEST);
  const names = biggest.map(({ path, size }) => `${path} (${mebibytes(size)})`).join(', ');
  return `the input files are ${mebibytes(total)} together, more than ${mebibytes(limits.artifactBytes)}; the biggest: ${names}`;
}

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
