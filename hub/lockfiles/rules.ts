/** Rules of a root that are about packages by name: overrides, resolutions, patches. Those of other packages are cut. */
import { changeFields, fieldsOf, type Fields } from './json.ts';

/** Names in a slice, and `name@version` of each; a rule about any other package changes nothing in it. */
export type Names = ReadonlySet<string>;

/**
 * Which package a rule is about: the last name of `foo`, `foo@^1`, `parent>foo`, `parent@1>foo@2`, `**\/foo`,
 * `parent/foo`, `@scope/parent/@scope/foo` and `foo@npm:^1`. An empty text where there is none.
 */
export function subjectOf(rule: string): string {
  const last = rule.slice(lastSeparator(rule) + 1).trim();
  const path = last.slice(0, versionStart(last));
  const parts = path.split('/');
  const scoped = parts.at(-2)?.startsWith('@') === true;
  return parts.slice(scoped ? -2 : -1).join('/');
}

/** Where `@` and a version begin; the `@` of a scope stands at the start or after `/`. */
function versionStart(text: string): number {
  for (let at = text.indexOf('@', 1); at > 0; at = text.indexOf('@', at + 1))
    if (text.charAt(at - 1) !== '/') return at;
  return text.length;
}

/** Of the `>` between a parent and its dependency; one in a range of versions stands after `@`, a blank or `|`. */
function lastSeparator(rule: string): number {
  for (let at = rule.lastIndexOf('>'); at > 0; at = rule.lastIndexOf('>', at - 1))
    if (!'@ |'.includes(rule.charAt(at - 1))) return at;
  return -1;
}

/** The rules about packages of a slice, undefined for none. What is not a map of rules stays as it is. */
export function cutRules(rules: unknown, names: Names): unknown {
  const fields = fieldsOf(rules);
  if (fields === undefined) return rules;
  return someOf(changeFields(fields, (rule, value) => (isAbout(rule, names) ? value : undefined)));
}

const someOf = (fields: Fields): Fields | undefined =>
  Object.keys(fields).length === 0 ? undefined : fields;

/** A subject that cannot be told keeps its rule. */
const isAbout = (rule: string, names: Names): boolean => {
  const subject = subjectOf(rule);
  return subject === '' || subject === '.' || subject.includes('*') || names.has(subject);
};

/** The patches of packages of a slice; those of one version only if that version is in it. */
export function cutPatches(patches: unknown, names: Names): unknown {
  const fields = fieldsOf(patches);
  if (fields === undefined) return patches;
  return someOf(changeFields(fields, (patched, value) => (isPatched(patched, names) ? value : undefined)));
}

const EXACT = /^\d+\.\d+\.\d+/;

/** Whether a key such as `foo`, `foo@1.2.3` or `foo@^1` is about a package of a slice. */
export function isPatched(patched: string, names: Names): boolean {
  const version = patched.indexOf('@', 1);
  if (version < 0) return names.has(patched);
  const exact = EXACT.test(patched.slice(version + 1)) && !/[\s|]/.test(patched);
  return names.has(exact ? patched : patched.slice(0, version));
}
