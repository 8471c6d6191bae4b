/** Settings of a machine, a person and a repository that change what git prints, and what it starts. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';

export interface Hostile {
  /** The lines of a configuration. */
  readonly config: string;
  /** Variables of the process that the hub runs in. */
  readonly environment: Readonly<Record<string, string>>;
  /** It appears when a program that the settings name was started. */
  readonly started: string;
}

/** Writes the configurations of system and person, and the programs that no setting may start. */
export async function hostileSettings(owner: Owner): Promise<Hostile> {
  const folder = await tempFolder(owner, 'hostile');
  const started = join(folder, 'started');
  const program = join(folder, 'hooks/program');
  await mkdir(join(folder, 'hooks'), { recursive: true });
  await writeFile(program, `#!/bin/sh\necho "$0 $*" >> ${started}\nexit 1\n`);
  await chmod(program, 0o755);
  for (const hook of ['reference-transaction', 'post-checkout', 'pre-auto-gc', 'post-index-change'])
    await writeFile(join(folder, 'hooks', hook), `#!/bin/sh\nexec ${program} ${hook}\n`, { mode: 0o755 });
  const config = configOf(folder, program);
  await writeFile(join(folder, 'gitconfig'), config);
  await writeFile(join(folder, '.gitconfig'), config);
  await writeFile(join(folder, 'attributes'), '* filter=hostile diff=hostile text eol=crlf ident\n');
  return { config, environment: environmentOf(folder, program), started };
}

const configOf = (folder: string, program: string): string => `
[diff]
  renames = copies
  ignoreSubmodules = all
  noprefix = true
  external = ${program}
[diff "hostile"]
  textconv = ${program}
[filter "hostile"]
  clean = ${program}
  smudge = ${program}
  process = ${program}
  required = true
[core]
  quotePath = true
  ignoreCase = true
  precomposeUnicode = true
  autocrlf = true
  fileMode = false
  symlinks = false
  abbrev = 4
  fsmonitor = ${program}
  hooksPath = ${join(folder, 'hooks')}
  attributesFile = ${join(folder, 'attributes')}
  excludesFile = ${join(folder, 'attributes')}
  sshCommand = ${program}
  pager = ${program}
  sparseCheckout = true
[color]
  ui = always
[status]
  submoduleSummary = true
[submodule]
  recurse = true
[log]
  showSignature = true
[alias]
  cat-file = !${program}
  diff-tree = !${program}
[fetch]
  prune = true
  recurseSubmodules = true
`;

const environmentOf = (folder: string, program: string): Record<string, string> => ({
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  GIT_CONFIG_SYSTEM: join(folder, 'gitconfig'),
  GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'diff.renames',
  GIT_CONFIG_VALUE_0: 'copies',
  GIT_CONFIG_PARAMETERS: "'diff.ignoresubmodules=all'",
  GIT_DIR: '/nowhere',
  GIT_WORK_TREE: '/nowhere',
  GIT_INDEX_FILE: '/nowhere',
  GIT_OBJECT_DIRECTORY: '/nowhere',
  GIT_COMMON_DIR: '/nowhere',
  GIT_NAMESPACE: 'nowhere',
  GIT_EXTERNAL_DIFF: program,
  GIT_DEFAULT_HASH: 'sha256',
  GIT_ICASE_PATHSPECS: '1',
  GIT_GRAFT_FILE: '/nowhere',
  GIT_SHALLOW_FILE: '/nowhere',
  GIT_REPLACE_REF_BASE: 'refs/cases/',
  GIT_PAGER: program,
  GIT_SSH_COMMAND: program,
  GIT_ASKPASS: program,
  GIT_TRACE: '1',
  GIT_TRACE2: '1',
});
