/** npm: what its lockfile installs, and how it is started. Pure. */
import { objectOf, readJson } from './manifests.ts';
import type { LockReading, Sources } from './reading.ts';
import { workspacesOf } from './workspaces.ts';

interface Installed {
  readonly link?: boolean;
  readonly resolved?: string;
}

/** Undefined: npm 7 or newer did not write it. */
export function readNpmLock({ lock }: Sources): LockReading | undefined {
  const packages = objectOf(readJson(lock)?.['packages']);
  if (packages === undefined) return undefined;
  const entries = Object.entries(packages as Readonly<Record<string, Installed>>);
  const copied = entries.flatMap(([, { link, resolved }]) =>
    link !== true && resolved?.startsWith('file:') === true ? [resolved.slice('file:'.length)] : [],
  );
  const workspaces = entries.map(([path]) => path).filter((path) => path !== '' && !isInstalled(path));
  const linked = entries.flatMap(([, { link, resolved }]) =>
    link === true && resolved !== undefined ? [resolved] : [],
  );
  return { places: [...workspaces, ...linked, ...copied], contents: copied, workspaces };
}

const isInstalled = (path: string): boolean => path.split('/').includes('node_modules');

/** Where the project is one workspace of several, only what it needs is installed, and what the root asks for. */
export const npmArguments = ({ project, manifests }: Sources): string[] => [
  'ci',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  ...(workspacesOf(manifests).includes(project) ? ['-w', project, '--include-workspace-root'] : []),
];
