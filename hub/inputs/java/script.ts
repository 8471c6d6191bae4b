/** Scripts of Gradle, in Groovy or Kotlin, as far as they name projects and files in so many words. */
import { isOutward } from '../literals.ts';
import { textParser } from '../parsers.ts';

export interface Script {
  /** Projects that a settings file includes: `:libs:net`. */
  readonly includes: readonly string[];
  /** Folders of other builds that take part in this one. */
  readonly builds: readonly string[];
  /** Folders of projects that are not where their names say. */
  readonly folders: readonly { readonly project: string; readonly path: string }[];
  /** Projects that this one depends on, by name, or by the accessor that Gradle makes of it. */
  readonly projects: readonly string[];
  readonly accessors: readonly string[];
  /** Other scripts. */
  readonly scripts: readonly string[];
  /** Paths that leave the folder. */
  readonly outward: readonly string[];
}

/** Reads one script. */
export const scriptParser = textParser('gradle', readScript);

interface Token {
  readonly kind: 'word' | 'text' | 'mark' | 'line';
  readonly text: string;
}

/** Comments are skipped; texts with something to fill in are no names. */
const TOKENS =
  /\/\/[^\n]*|\/\*[^]*?\*\/|"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_][\w.]*|\n|[^\s\w]/g;

function tokensOf(text: string): Token[] {
  return [...text.matchAll(TOKENS)].flatMap(([token]): Token[] => {
    if (token.startsWith('//') || token.startsWith('/*')) return [];
    if (token === '\n') return [{ kind: 'line', text: token }];
    if (/^["']/.test(token)) return [{ kind: 'text', text: token.replace(/^("""|'''|["'])([^]*)\1$/, '$2') }];
    return [{ kind: /^\w/.test(token) ? 'word' : 'mark', text: token }];
  });
}

function readScript(text: string): Script {
  const tokens = tokensOf(text);
  const script = {
    includes: [] as string[],
    builds: [] as string[],
    folders: [] as { project: string; path: string }[],
    projects: [] as string[],
    accessors: [] as string[],
    scripts: [] as string[],
    outward: tokens.flatMap((token) => (token.kind === 'text' && isOutward(token.text) ? token.text : [])),
  };
  tokens.forEach((token, at) => {
    if (token.kind !== 'word') return;
    const [first] = textsAfter(tokens, at);
    if (token.text === 'include') script.includes.push(...textsAfter(tokens, at).map(projectName));
    else if (token.text.startsWith('projects.')) script.accessors.push(accessorOf(token.text.slice(9)));
    else if (first === undefined) return;
    else if (token.text === 'includeBuild') script.builds.push(first);
    else if (token.text === 'from') script.scripts.push(first);
    else if (token.text === 'project') {
      const path = folderAfter(tokens, at);
      if (path === undefined) script.projects.push(projectName(first));
      else script.folders.push({ project: projectName(first), path });
    }
  });
  return script;
}

/** Names of projects start at the root, whether they say so or not. */
const projectName = (name: string): string => (name.startsWith(':') ? name : `:${name}`);

/** What Gradle calls a project in `projects.…`: the same letters, whatever stands between them. */
export const accessorOf = (name: string): string => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();

/** Texts that are given to a name: in parentheses, or up to the end of the line, a comma carrying on. */
function textsAfter(tokens: readonly Token[], start: number): string[] {
  const found: string[] = [];
  let depth = 0;
  for (let at = start + 1; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as Token;
    if (kind === 'text') found.push(text);
    else if (text === '(') depth += 1;
    else if (text === ')' && --depth <= 0) break;
    else if (text === '{' || text === '}' || text === ';') break;
    else if (kind === 'line' && depth === 0 && tokens[at - 1]?.text !== ',') break;
  }
  return found.filter((text) => !text.includes('$'));
}

/** `project(":x").projectDir = file("../x")`. */
function folderAfter(tokens: readonly Token[], start: number): string | undefined {
  const close = tokens.findIndex((token, at) => at > start && token.text === ')');
  const [dot, name] = [tokens[close + 1], tokens[close + 2]];
  return dot?.text === '.' && name?.text === 'projectDir' ? textsAfter(tokens, close + 2)[0] : undefined;
}
