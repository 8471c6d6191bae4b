/** Packages of a Go program: the files that each is built from, and the packages that they import. */
import picomatch from 'picomatch';
import { readFile, type Findings } from '../findings.ts';
import { filesIn } from '../listing.ts';
import { takeLiteral } from '../literals.ts';
import { inside, joinPath, relativeTo, upwards } from '../paths.ts';
import { isCheap } from '../patterns.ts';
import type { Modules } from './modules.ts';
import { goParser } from './source.ts';

/** What go builds a package from, whatever the platform. */
const BUILT = /\.(?:go|s|S|sx|c|h|cc|cpp|cxx|hh|hpp|hxx|m|f|F|for|f90|syso|swig|swigcxx)$/;
const TEST = /_test\.go$/;
/** Packages that lead to packages. */
const MAX_PACKAGES = 5_000;

/** Takes the package in a folder, and all that it is built from. */
export function takePackagesOf(findings: Findings, home: string, modules: Modules | undefined): void {
  const folders = new Set([home]);
  for (const folder of folders) {
    if (folders.size > MAX_PACKAGES) {
      findings.warn(
        `${home} is built from more than ${MAX_PACKAGES} packages: list what it reads in include`,
      );
      return;
    }
    for (const path of takePackage(findings, home, folder)) {
      const at = modules?.folderOf(path);
      if (at !== undefined) folders.add(at);
    }
  }
}

/** Takes the files of a package; answers with what they import. */
function takePackage(findings: Findings, home: string, folder: string): readonly string[] {
  const names = filesIn(findings.view, folder).filter((name) => BUILT.test(name) && !TEST.test(name));
  return names.flatMap((name) => {
    findings.take(inside(folder, name));
    return name.endsWith('.go') ? takeFile(findings, { home, folder, name }) : [];
  });
}

interface GoFile {
  readonly home: string;
  readonly folder: string;
  readonly name: string;
}

/** Takes what a file reads beside its package; answers with what it imports. */
function takeFile(findings: Findings, { home, folder, name }: GoFile): readonly string[] {
  const file = inside(folder, name);
  const source = readFile(findings, file, goParser);
  if (source === undefined) return [];
  for (const pattern of source.embeds) takeEmbedded(findings, folder, pattern);
  for (const literal of source.paths)
    takeLiteral(findings, literal, { bases: [home, folder], homes: [home, folder], file });
  // what a C compiler reads is not told by its file alone
  const native = source.imports.includes('C') && folder !== home ? ['.', ...source.native] : source.native;
  for (const path of native) {
    const at = joinPath(folder, path);
    if (at !== undefined) findings.take(at);
  }
  return source.imports;
}

const WILDCARD = /[*?[\\]/;

/** A file, a folder, or all that a pattern matches. */
function takeEmbedded(findings: Findings, folder: string, pattern: string): void {
  const parts = pattern.replace(/^all:/, '').split('/');
  const wild = parts.findIndex((part) => WILDCARD.test(part));
  const base = joinPath(folder, (wild < 0 ? parts : parts.slice(0, wild)).join('/'));
  if (base === undefined) return;
  if (wild < 0) {
    findings.take(base);
    return;
  }
  const rest = parts.slice(wild).join('/');
  if (rest.length > MAX_PATTERN || !isCheap(rest)) findings.take(base);
  else takeMatching(findings, base, picomatch(rest, MATCHING));
}

/** Characters. No pattern of people is longer, and time grows with the length. */
const MAX_PATTERN = 512;
const MATCHING = { dot: true, noextglob: true, nobrace: true, nonegate: true, noglobstar: true } as const;

/** What matches, and all that lies in a folder that matches. */
function takeMatching(findings: Findings, base: string, matches: (path: string) => boolean): void {
  for (const { path } of findings.view.below(base))
    if (upwards(relativeTo(path, base)).some((above) => above !== '.' && matches(above))) findings.take(path);
}
