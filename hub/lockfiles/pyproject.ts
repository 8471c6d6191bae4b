/** The pyproject.toml of the root of a uv workspace, cut down to what an install of some of its members reads. */
import { parse, stringify, type TomlTable } from 'smol-toml';
import type { Slice } from './lockfile.ts';
import { tableOf } from './uvgraph.ts';

export interface PyprojectCut {
  /** Folder of the member that is installed, from the root's. */
  readonly folder: string;
  readonly slice: Pick<Slice, 'packages' | 'workspaces'>;
}

/**
 * The cut text: the workspace has only the members that are there, packages have sources only if they are there as
 * well, and tables of tools that build nothing are gone. A root that is built keeps the tables of all tools, since any of
 * them may be that of its build backend. What is no TOML stays as it is.
 */
export function cutPyproject(content: string, { folder, slice }: PyprojectCut): string {
  const parsed = tolerant(content);
  if (parsed === undefined) return content;
  const tool = tableOf(parsed['tool']);
  const uv = cutUv(tableOf(tool['uv']), [folder, ...slice.workspaces], slice.packages);
  if ('build-system' in parsed) return stringify({ ...parsed, tool: { ...tool, uv } });
  const kept = Object.entries(parsed).filter(([name]) => READ_BY_UV.includes(name));
  return stringify({ ...Object.fromEntries(kept), tool: { uv } });
}

/** Tables of a project that is not built. */
const READ_BY_UV: readonly string[] = ['project', 'dependency-groups'];

function tolerant(content: string): TomlTable | undefined {
  try {
    return parse(content);
  } catch {
    return undefined;
  }
}

function cutUv(uv: TomlTable, folders: readonly string[], names: ReadonlySet<string>): TomlTable {
  const workspace = tableOf(uv['workspace']);
  const members = [...new Set(folders)].filter((folder) => folder !== '.').sort();
  const sources = Object.entries(tableOf(uv['sources'])).filter(([name]) => names.has(normalName(name)));
  return {
    ...uv,
    ...(uv['workspace'] === undefined ? {} : { workspace: { ...workspace, members } }),
    ...(uv['sources'] === undefined ? {} : { sources: Object.fromEntries(sources) }),
  };
}

/** As a lockfile spells the name of a package: `Some.Package_x` is `some-package-x`. */
const normalName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');
