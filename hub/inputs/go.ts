/** What programs in Go are built from: the packages that they import, the modules that those are in, embedded files. */
import { posix } from 'node:path';
import type { ProjectFile } from '../catalog/catalog.ts';
import { blobId } from './blob.ts';
import { makeFindings, readFile, type Findings } from './findings.ts';
import { cutWorkfile, modfileParser, type Modfile } from './go/modfile.ts';
import { modulesOf } from './go/modules.ts';
import { takePackagesOf } from './go/packages.ts';
import type { Inferred } from './infer.ts';
import { inside } from './paths.ts';
import { programOf } from './pulumi.ts';
import type { View } from './view.ts';

/** Inputs of a program in Go. */
export function inferGo(project: ProjectFile, view: View): Inferred {
  const findings = makeFindings(view);
  const { folder } = programOf(project, view);
  const modules = modulesOf(findings, folder);
  takePackagesOf(findings, folder, modules);
  if (modules?.workspace !== undefined) takeWorkspace(findings, modules.workspace, modules.folders);
  return findings.result();
}

/** The file of a workspace, cut to the modules in use, so that no other one has a say. */
function takeWorkspace(findings: Findings, folder: string, modules: ReadonlySet<string>): void {
  const path = inside(folder, 'go.work');
  const sums = inside(folder, 'go.work.sum');
  if (findings.view.entry(sums) !== undefined) findings.take(sums);
  const file = readFile(findings, path, modfileParser);
  if (file === undefined) {
    findings.take(path);
    return;
  }
  const inUse = Array.from(modules, (module) => posix.relative(folder, module) || '.');
  const cut = (read: Modfile): Buffer => Buffer.from(cutWorkfile(read, inUse));
  findings.made({
    path,
    id: blobId(cut(file)),
    content: (view) => {
      const read = view.parsed(path, modfileParser);
      return read?.kind === 'read' ? cut(read.value) : Buffer.alloc(0);
    },
  });
}
