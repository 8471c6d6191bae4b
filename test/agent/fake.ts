/** A stand-in for the Pulumi CLI, for what the real one cannot be made to do. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a program whose `up` is the given shell script; `more` are further cases. An export answers with the file
 * `exported` of the folder where there is one. Everything else that it is asked for succeeds with nothing.
 */
export async function fakePulumi(folder: string, up: string, more = ''): Promise<string> {
  const path = join(folder, 'fake-pulumi');
  await writeFile(
    path,
    `#!/bin/sh
events() { while [ $# -gt 0 ]; do [ "$1" = --event-log ] && { echo "$2"; return; }; shift; done; }
case "$1" in
  version) echo v3.274.1 ;;
  stack) [ "$2" = export ] && { cat '${folder}/exported' 2>/dev/null || echo '{"version":3,"deployment":null}'; } ;;
  up) events=$(events "$@")
${up}
  ;;
${more}
esac
`,
  );
  await chmod(path, 0o755);
  return path;
}

/** What the CLI writes at a good end. */
export const GOOD_SUMMARY = `printf '%s\\n' '{"summaryEvent":{"result":"succeeded","resourceChanges":{"same":1}}}' >"$events"`;
