/**
 * Patches that a script of the root puts on packages with patch-package. It says nothing when the folder of patches is
 * not there, so a run without them would go on with packages as they were published.
 */
import { fieldsOf, parseFields, textPairs } from './json.ts';
import { LIFECYCLE } from './scripts.ts';
import type { Names } from './rules.ts';

/** Folder of the patches, from the root, if an install of a root with this package.json applies any. */
export function patchFolder(content: string): string | undefined {
  const scripts = textPairs(fieldsOf(parseFields(content)?.['scripts']));
  // a script that the install runs may call another one, so all are looked at when there is any
  if (!scripts.some(([name]) => LIFECYCLE.includes(name))) return undefined;
  const command = scripts.find(([, text]) => text.includes('patch-package'))?.[1];
  if (command === undefined) return undefined;
  const folder = /--patch-dir[=\s]+["']?([^\s"']+)/.exec(command)?.[1] ?? 'patches';
  return folder.replace(/^\.\//, '').replace(/\/+$/, '');
}

/** Whether a file such as `@scope+name+1.2.3.patch` or `outer++inner+1.2.3+001+why.patch` patches a slice's package. */
export function isPatchFor(file: string, names: Names): boolean {
  if (!file.endsWith('.patch')) return false;
  return file.split('++').every((part) => {
    const [scope = '', name = ''] = part.split('+');
    return names.has(scope.startsWith('@') ? `${scope}/${name}` : scope);
  });
}
