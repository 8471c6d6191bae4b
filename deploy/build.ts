/** `make build`: one minified bundle with source map for each entry point. */
import { cp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Name of the bundle → its entry point, from the root of the checkout. The one list of what is shipped. */
export const entryPoints = {
  hub: 'hub/main.ts',
  gitworker: 'hub/git/worker.ts',
  agent: 'agent/main.ts',
  affected: 'hub/cli/affected.ts',
  validate: 'hub/cli/validate.ts',
  local: 'deploy/local/main.ts',
  towline: 'hub/cli/main.ts',
  audit: 'hub/cli/audit/main.ts',
} as const;

export type EntryPoint = keyof typeof entryPoints;

/** Folders of files that are started by other programs: they lie beside a bundle as they are. */
const BESIDE: Readonly<Partial<Record<EntryPoint, string>>> = {
  agent: 'shared/guard',
  audit: 'shared/guard',
};

/** Dependencies in the older module format call `require`, which such a file does not have by itself. */
const REQUIRE = `import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);`;

/** It is loaded from the user's project, never from ours. */
const EXTERNAL = ['@pulumi/pulumi'];

const root = join(import.meta.dirname, '..');

/** Writes the bundles into a folder. Rejects when one does not build; esbuild has then printed why. */
export async function bundle(names: readonly EntryPoint[], folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(names.map((name) => [name, entryPoints[name]])),
    outdir: folder,
    bundle: true,
    minify: true,
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: true,
    format: 'esm',
    platform: 'node',
    // the older format of a package may load its parts in ways that no bundler follows
    mainFields: ['module', 'main'],
    target: 'node24',
    external: EXTERNAL,
    banner: { js: REQUIRE },
    logLevel: 'warning',
  });
  for (const source of names.flatMap((name) => BESIDE[name] ?? []))
    await cp(join(root, source), join(folder, basename(source)), { recursive: true });
}

if (import.meta.main) {
  const folder = join(root, 'dist');
  await rm(folder, { recursive: true, force: true });
  await bundle(Object.keys(entryPoints) as EntryPoint[], folder);
}
