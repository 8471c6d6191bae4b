/** Where the state of a stack is, and whether a run can reach the same place next time. */

export type BackendCheck = { readonly kind: 'good' } | { readonly kind: 'bad'; readonly why: string };

/**
 * A run has a home and a work folder of its own, which are removed: a backend below one of them would lose the state
 * with the first run, and the next one would make everything anew.
 */
export function checkBackend(url: string): BackendCheck {
  if (!url.startsWith('file:')) return { kind: 'good' };
  const path =
    url
      .slice('file:'.length)
      .replace(/^\/\/(?=[/~.])/, '')
      .split('?')[0] ?? '';
  if (path.startsWith('/') && !path.split('/').includes('..')) return { kind: 'good' };
  return {
    kind: 'bad',
    why: `the backend ${url} is not a full path: its state would be lost with the run's folder`,
  };
}
