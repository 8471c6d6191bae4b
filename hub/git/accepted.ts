/** The commit that is in force, kept over restarts where only its descendants may follow it. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';

export interface AcceptedRecord {
  /** Undefined: there is none. */
  read(): Promise<string | undefined>;
  write(commit: string): Promise<void>;
}

/** `kept`: false where history may be rewritten; what was recorded is then forgotten. */
export function makeRecord(file: string, kept: boolean): AcceptedRecord {
  let written: string | undefined;
  return {
    async read() {
      if (!kept) await rm(file, { force: true });
      const text = await readFile(file, 'utf8').catch(() => '');
      written = /^[0-9a-f]{40,64}$/.exec(text.trim())?.[0];
      return written;
    },
    async write(commit) {
      if (!kept || commit === written) return;
      await writeFile(`${file}.new`, `${commit}\n`, { flush: true });
      await rename(`${file}.new`, file);
      written = commit;
    },
  };
}
