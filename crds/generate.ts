/** Writes the CustomResourceDefinitions beside this file. Run it after a schema changed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { manifests } from './manifest.ts';

for (const [name, text] of Object.entries(manifests())) {
  await writeFile(join(import.meta.dirname, name), text);
}
