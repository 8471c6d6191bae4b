/** Without inference: the nearest npm lockfile as it is, and the manifests from its folder down to the project. */
import { NOTHING_INFERRED, type Infer } from './infer.ts';
import { npmFiles } from './project.ts';

/** What version 1 of the digest took beside a project's folder, and what `inferInputs: false` still does. */
export const wholeLockfile: Infer = (project, view) => ({
  ...NOTHING_INFERRED,
  files: npmFiles(view, project),
});
