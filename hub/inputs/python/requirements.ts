/** Requirements files: what they name of the repository. */
import { textParser } from '../parsers.ts';

export interface Requirements {
  /** Other requirements and constraints files, from the folder of this one. */
  readonly files: readonly string[];
  /** Projects, archives and folders of archives. pip takes them from where it runs, others from this file. */
  readonly paths: readonly string[];
}

/** Reads a requirements file. */
export const requirementsParser = textParser('requirements', readRequirements);

/** Options that name another file of this kind. */
const FILE_OPTIONS = ['-r', '--requirement', '-c', '--constraint'];
const PATH_OPTIONS = ['-e', '--editable', '-f', '--find-links', '-i', '--index-url', '--extra-index-url'];

function readRequirements(text: string): Requirements {
  const files: string[] = [];
  const paths: string[] = [];
  for (const line of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const stated = line.replace(/(?:^|\s)#.*$/, '').trim();
    if (stated === '') continue;
    const file = valueOf(stated, FILE_OPTIONS);
    const path = valueOf(stated, PATH_OPTIONS) ?? (stated.startsWith('-') ? undefined : stated);
    if (file !== undefined) files.push(file);
    else if (path !== undefined) paths.push(...(requirementPath(path) ?? []));
  }
  return { files, paths };
}

/** The value of an option, written in any of the ways that pip takes: `-r x`, `-rx`, `--requirement=x`. */
function valueOf(line: string, options: readonly string[]): string | undefined {
  for (const option of options) {
    if (!line.startsWith(option)) continue;
    const rest = line.slice(option.length);
    if (option.startsWith('--') && !/^[\s=]/.test(rest)) continue;
    return rest.replace(/^\s*=?\s*/, '').replace(/^(["'])(.*)\1$/, '$2');
  }
  return undefined;
}

/** The path in a requirement, as a list of one: `../lib[extra]; marker`, `name @ file:../lib`, `./x.whl --hash=…`. */
export function requirementPath(requirement: string): readonly string[] | undefined {
  const named = /^[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\]\s*)?@\s*(\S+)/.exec(requirement)?.[1];
  const [target = ''] = (named ?? requirement).split(/\s+|;/);
  const path = localPath(target);
  return path === undefined ? undefined : [path];
}

/** A path of the repository in a URL or path; undefined: it is none. */
export function localPath(target: string): string | undefined {
  const bare = target.replace(/^(?:git\+)?file:(?:\/\/)?/, '').replace(/[#?].*$/, '');
  const isFile = bare !== target && /^(?:git\+)?file:/.test(target);
  if (!isFile && (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(target) || !/[/\\]|^\.+$/.test(target))) return undefined;
  // what stands for the folder of the file in pip, pdm, hatch and uv
  const path = decode(bare).replace(/^\/?(?:\$\{PROJECT_ROOT\}|\{root(?::uri)?\}|\$\{PWD\})\/?/, './');
  return path.startsWith('/') || path.includes('${') ? undefined : path.replace(/\[[^[\]/]*\]$/, '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
