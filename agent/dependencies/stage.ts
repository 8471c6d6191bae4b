/** The files of an artifact that an install is made of: what its cache is keyed by, and all that it sees. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, readlink, stat, symlink } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { sha256 } from '../../shared/canonical.ts';
import { below, isBelow, isManifest, isRead, programsOf, type ManifestFile } from './manifests.ts';
import type { Install } from './plan.ts';
import { isPackage } from './workspaces.ts';

/** A file of an artifact. */
export interface ArtifactFile {
  /** From the artifact's root. */
  readonly path: string;
  readonly isLink: boolean;
}

/** Every file and link, but what is installed already. */
export async function listArtifact(work: string): Promise<ArtifactFile[]> {
  const entries = await readdir(work, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => ({
      path: relative(work, join(entry.parentPath, entry.name)),
      isLink: entry.isSymbolicLink(),
    }))
    .filter(({ path }) => !path.split('/').includes('node_modules'))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The texts that a plan is made of. */
export async function readManifests(work: string, files: readonly ArtifactFile[]): Promise<ManifestFile[]> {
  const read = files.filter(({ path, isLink }) => !isLink && isRead(path));
  return Promise.all(
    read.map(async ({ path }) => ({ path, text: await readFile(join(work, path), 'utf8') })),
  );
}

/** A file that an install needs. */
export interface StagedFile extends ArtifactFile {
  /** From the lockfile's folder. */
  readonly path: string;
  /** Over its mode and content, or where it points to. */
  readonly hash: string;
}

/** Everything below the lockfile's folder that has a say in the install. An install that needs more fails. */
export async function stagedFiles(
  work: string,
  files: readonly ArtifactFile[],
  install: Install,
): Promise<StagedFile[]> {
  const isNeeded = needsOf(install);
  const needed = files.flatMap(({ path, isLink }) => {
    const inside = below(path, install.folder);
    return inside !== undefined && isNeeded(inside, isLink) ? [{ path: inside, isLink }] : [];
  });
  const folder = join(work, install.folder);
  return Promise.all(
    needed.map(async (file) => ({ ...file, hash: await hashOf(join(folder, file.path), file) })),
  );
}

function needsOf(install: Install): (path: string, isLink: boolean) => boolean {
  const { contents, manifests, release } = install;
  const single = new Set([
    ...(release === undefined ? [] : [release]),
    ...manifests
      .filter(isPackage)
      .flatMap(({ path, text }) => programsOf(text).map((program) => posix.join(dirname(path), program))),
  ]);
  const copied = contents.map((path) => posix.normalize(path).replace(/\/$/, ''));
  return (path, isLink) =>
    copied.some((content) => path === content || isBelow(path, content)) ||
    (!isLink && (isManifest(path) || single.has(path)));
}

async function hashOf(path: string, { isLink }: ArtifactFile): Promise<string> {
  if (isLink) return sha256(`link ${await readlink(path)}`);
  const { mode } = await stat(path);
  const hash = createHash('sha256').update(`${(mode & 0o111) === 0 ? 'file' : 'program'} `);
  return hash.update(await readFile(path)).digest('hex');
}

/** Lays them into an empty folder, and empty folders where links will point to. */
export async function layStage(
  staging: string,
  from: string,
  { files, install }: { readonly files: readonly StagedFile[]; readonly install: Install },
): Promise<void> {
  for (const { path, isLink } of files) {
    const to = join(staging, path);
    await mkdir(dirname(to), { recursive: true });
    if (isLink) await symlink(await readlink(join(from, path)), to);
    else await copyFile(join(from, path), to);
  }
  for (const place of install.places) {
    const isFolder = await stat(join(from, place)).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (isFolder) await mkdir(join(staging, place), { recursive: true });
  }
}
