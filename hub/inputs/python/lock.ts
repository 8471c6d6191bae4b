/** uv.lock and the root of its workspace as they are shipped: cut down to what one member installs. */
import { cutPyproject } from '../../lockfiles/pyproject.ts';
import type { Slice, Workspaces } from '../../lockfiles/lockfile.ts';
import { uvLock } from '../../lockfiles/uv.ts';
import { blobId } from '../blob.ts';
import type { Findings } from '../findings.ts';
import { inside, joinPath, relativeTo } from '../paths.ts';
import type { View } from '../view.ts';

/** A member of a workspace, or a project that is one for itself. */
export interface UvMember {
  readonly root: string;
  readonly folder: string;
}

type Cut = {
  /** Path and object id of each file that is made. */
  readonly made: [string, string][];
  /** Folders of members that are installed with it. */
  readonly members: string[];
  /** Files and folders that packages come from. */
  readonly paths: string[];
  readonly problems: string[];
};

/** uv names its members in the lockfile. */
const NO_MANIFESTS: Workspaces = { manifest: () => undefined, folderOf: () => undefined };

/** Takes the lockfile, if there is one; answers with the folders of projects that it leads to. */
export function takeUvLock(findings: Findings, member: UvMember): readonly string[] {
  const { view } = findings;
  const path = inside(member.root, 'uv.lock');
  if (view.entry(path) === undefined) return [];
  const read = view.parsed(path, uvLock);
  if (read === undefined || read.kind === 'whole') {
    if (read !== undefined)
      findings.warn(`${path} is taken whole, so that each change of it runs the stack: ${read.why}`);
    findings.take(path);
    return [];
  }
  // in few words, so that what others install asks nobody again
  const cut = view.fact({
    key: `uv cut:${member.root}\0${member.folder}`,
    answer: (inner) => cutFor(inner, member),
  });
  for (const [file, id] of cut.made)
    findings.made({ path: file, id, content: (again) => contentOf(again, file, member) });
  cut.problems.forEach((problem) => findings.problem(problem));
  const folders = [...cut.members, ...cut.paths].filter((at) => findings.take(at) === 'folder');
  return folders;
}

function sliceFor(view: View, { root, folder }: UvMember): Slice | undefined {
  const read = view.parsed(inside(root, 'uv.lock'), uvLock);
  if (read?.kind !== 'lockfile') return undefined;
  return read.lockfile.slice(folderIn(root, folder), NO_MANIFESTS);
}

const folderIn = (root: string, folder: string): string => (folder === root ? '.' : relativeTo(folder, root));

function cutFor(view: View, member: UvMember): Cut {
  const { root, folder } = member;
  const slice = sliceFor(view, member);
  if (slice === undefined) return { made: [], members: [], paths: [], problems: [] };
  const files = [inside(root, 'uv.lock'), ...(folder === root ? [] : [inside(root, 'pyproject.toml')])];
  const present = files.filter((file) => view.entry(file) !== undefined);
  const out = slice.paths.filter((path) => joinPath(root, path) === undefined);
  return {
    made: present.map((file) => [file, blobId(contentOf(view, file, member))]),
    members: slice.workspaces.map((at) => inside(root, at)),
    paths: slice.paths.flatMap((path) => joinPath(root, path) ?? []),
    problems: [
      ...slice.problems,
      ...out.map(
        (path) => `${inside(root, 'uv.lock')} takes a package from ${path}, which is not in the repository`,
      ),
    ],
  };
}

function contentOf(view: View, path: string, member: UvMember): Buffer {
  const slice = sliceFor(view, member);
  if (slice === undefined) return Buffer.alloc(0);
  if (path === inside(member.root, 'uv.lock')) return Buffer.from(slice.text());
  const content = view.content(path)?.toString('utf8') ?? '';
  return Buffer.from(cutPyproject(content, { folder: folderIn(member.root, member.folder), slice }));
}
