/** What a Python program's manifests ask for, as far as it decides how they are installed. Pure. */
import { posix } from 'node:path';
import { parse } from 'smol-toml';

/** One line of a requirements file that is not a comment, with what follows it after a backslash. */
interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** What a requirements file says besides the packages of an index. */
export interface Requirements {
  /** Requirements and constraints files that it reads, from the artifact's root, with the line that names them. */
  readonly files: readonly { readonly path: string; readonly line: number }[];
  /** It names a folder or file of the machine: what is installed then belongs to one run. */
  readonly local: boolean;
}

/** Reads a requirements file as pip does, line by line. */
export function readRequirements(path: string, text: string): Requirements {
  const lines = linesOf(text);
  const files = lines.flatMap(({ text: line, number }) => {
    const named = valueOf(line, FILE_OPTIONS);
    return named === undefined || isAddress(named)
      ? []
      : [{ path: posix.join(posix.dirname(path), named), line: number }];
  });
  return { files, local: lines.some(({ text: line }) => isLocal(line)) };
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let open = '';
  let from = 0;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (open === '') from = index + 1;
    const joined = open + (raw.trimStart().startsWith('#') ? '' : raw.replace(/\s#.*$/, ''));
    open = joined.endsWith('\\') ? joined.slice(0, -1) : '';
    if (open === '' && joined.trim() !== '') lines.push({ text: joined.trim(), number: from });
  }
  return open.trim() === '' ? lines : [...lines, { text: open.trim(), number: from }];
}

const FILE_OPTIONS = ['-r', '--requirement', '-c', '--constraint'];
const EDITABLE_OPTIONS = ['-e', '--editable'];

/** `-r x`, `-rx`, `--requirement x` and `--requirement=x` are one. */
function valueOf(line: string, options: readonly string[]): string | undefined {
  for (const option of options) {
    if (!line.startsWith(option)) continue;
    const rest = line.slice(option.length);
    if (/^[\s=]/.test(rest) || (!option.startsWith('--') && rest !== '')) return rest.replace(/^[\s=]+/, '');
  }
  return undefined;
}

const isAddress = (text: string): boolean => /^[a-z][a-z+.-]*:\/\//i.test(text);

function isLocal(line: string): boolean {
  if (line.startsWith('-') && valueOf(line, EDITABLE_OPTIONS) === undefined) return false;
  const named = valueOf(line, EDITABLE_OPTIONS) ?? line.split('@').at(-1)?.trim() ?? '';
  return (
    /^(\.{0,2}\/|\.$|\.\.$|file:)/.test(named) ||
    (valueOf(line, EDITABLE_OPTIONS) !== undefined && !isAddress(named))
  );
}

/** Dependencies that a `pyproject.toml` declares; undefined when it cannot be read. */
export function projectDependencies(text: string): readonly string[] | undefined {
  try {
    const { project } = parse(text) as { readonly project?: { readonly dependencies?: unknown } };
    const { dependencies = [] } = project ?? {};
    return Array.isArray(dependencies) && dependencies.every((one) => typeof one === 'string')
      ? dependencies
      : undefined;
  } catch {
    return undefined;
  }
}
