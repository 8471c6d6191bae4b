/** Entry points that no commit has, since a build makes them. */
import { inside, joinPath } from '../paths.ts';
import type { View } from '../view.ts';
import { manifestIn } from './manifest.ts';
import type { Program } from './program.ts';
import { notCommitted } from './reach.ts';
import { filesAt, type Probe, targetsOf } from './resolve.ts';

/** Warnings on the entry points of a program and of the packages that it takes from the repository. */
export function builtFiles(
  view: View,
  {
    program,
    file,
    packages,
  }: { readonly program: Program; readonly file: string; readonly packages: readonly string[] },
): string[] {
  const probe: Probe = { entry: (path) => view.entry(path), manifest: (folder) => manifestIn(view, folder) };
  const { main, named } = program;
  const missing =
    named && main !== undefined && !view.hasFolder(main) && filesAt(probe, main).length === 0
      ? [notCommitted(file, 'names the program', main)]
      : [];
  const folders = new Set([...program.directories, ...packages]);
  return [...missing, ...[...folders].flatMap((folder) => missingTargets(view, probe, folder))];
}

function missingTargets(view: View, probe: Probe, folder: string): string[] {
  return targetsOf(manifestIn(view, folder)).flatMap((target) => {
    const path = joinPath(folder, target);
    if (path === undefined || view.hasFolder(path) || filesAt(probe, path).length > 0) return [];
    return [notCommitted(inside(folder, 'package.json'), 'has an entry point', path)];
  });
}
