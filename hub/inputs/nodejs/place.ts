/** Dependencies that come from the repository, as a package.json names them. */
import semver from 'semver';

export type Place =
  /** A folder or an archive, from the folder of the package.json. */
  | { readonly kind: 'path'; readonly path: string }
  /** The same, from the folder of the lockfile. */
  | { readonly kind: 'fromRoot'; readonly path: string }
  /** The workspace of a name, and nothing else. */
  | { readonly kind: 'workspace'; readonly name: string }
  /** Patches on what a registry has; each from the folder of the package.json or from that of the lockfile. */
  | { readonly kind: 'patches'; readonly files: readonly Place[] }
  /** The workspace of that name where there is one, else a registry, a Git repository or a URL. */
  | { readonly kind: 'elsewhere' };

const LOCAL = ['file:', 'link:', 'portal:'];

/** Where a dependency comes from. */
export function placeOf(name: string, spec: string): Place {
  const protocol = LOCAL.find((prefix) => spec.startsWith(prefix));
  if (protocol !== undefined) return { kind: 'path', path: withoutSlashes(spec.slice(protocol.length)) };
  if (/^\.{1,2}(?:\/|$)/.test(spec)) return { kind: 'path', path: spec };
  if (spec.startsWith('workspace:')) return workspacePlace(name, spec.slice('workspace:'.length));
  if (spec.startsWith('patch:')) return { kind: 'patches', files: patchFiles(spec) };
  return { kind: 'elsewhere' };
}

/** npm takes `file:///` and `file://` for the same as `file:`, but an absolute path stays one. */
const withoutSlashes = (path: string): string => path.replace(/^\/\/(?!\/)/, '');

/** `workspace:^`, `workspace:1.2.3`, `workspace:other@*`, `workspace:../folder`, `workspace:folder/from/root`. */
function workspacePlace(name: string, rest: string): Place {
  if (['', '*', '^', '~'].includes(rest) || semver.validRange(rest) !== null)
    return { kind: 'workspace', name };
  if (/^\.{1,2}(?:\/|$)/.test(rest)) return { kind: 'path', path: rest };
  const at = rest.lastIndexOf('@');
  return at > 0 ? { kind: 'workspace', name: rest.slice(0, at) } : { kind: 'fromRoot', path: rest };
}

/** After `#`, joined by `&`; what starts with `~builtin` comes with the package manager. */
function patchFiles(spec: string): Place[] {
  const [, listed = ''] = spec.split('#');
  return (listed.split('::')[0] ?? '')
    .split('&')
    .map((file) => file.replace(/^(?:optional!|~optional)/, ''))
    .filter((file) => file !== '' && !/builtin</.test(file))
    .map((file) =>
      file.startsWith('~/') ? { kind: 'fromRoot', path: file.slice(2) } : { kind: 'path', path: file },
    );
}
