/** Which scripts of a root package.json an install may run. */
import { fieldsOf, textPairs, type Fields } from './json.ts';

/** Scripts that npm, pnpm or yarn run of the root when they install. */
export const LIFECYCLE: readonly string[] = [
  ...['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'],
  ...['dependencies', 'pnpm:devPreinstall'],
];

/** What a command may name scripts with that are not written out: wildcards, variables, other commands. */
const INDIRECT = /[*$`]/;

/**
 * The scripts that an install runs, and those that they name, directly or not, also as part of another word. `commands`
 * are other commands that are run after an install. Undefined: there is none.
 */
export function cutScripts(scripts: unknown, commands: readonly string[] = []): unknown {
  const fields = fieldsOf(scripts);
  if (fields === undefined) return scripts;
  const all = textPairs(fields);
  const kept = new Set(all.flatMap(([name]) => (LIFECYCLE.includes(name) ? [name] : [])));
  const work = [...commands, ...all.flatMap(([name, command]) => (kept.has(name) ? [command] : []))];
  for (let command = work.pop(); command !== undefined; command = work.pop()) {
    if (INDIRECT.test(command)) return fields;
    for (const [name, text] of all) {
      if (kept.has(name) || !isNamed(name, command)) continue;
      kept.add(name);
      work.push(text);
    }
  }
  return ordered(fields, kept);
}

/** `prebuild` and `postbuild` are run with `build`. */
const isNamed = (name: string, command: string): boolean =>
  command.includes(name) || command.includes(name.replace(/^(pre|post)/, '') || name);

function ordered(fields: Fields, kept: ReadonlySet<string>): Fields | undefined {
  const entries = Object.entries(fields).filter(([name]) => kept.has(name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
