/** What Node.js compiled of a command, kept for the next time: without it, half of a short run is compiling. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { isAbsolute, join } from 'node:path';

/**
 * Keeps it in the person's own cache folder, `towline/compiled` in `XDG_CACHE_HOME` or in `~/.cache`. Where there is
 * none, or it cannot be written, nothing is kept. To be called before the command is loaded.
 */
export function keepCompiled(environment: Readonly<Record<string, string | undefined>>): void {
  const { XDG_CACHE_HOME: cache, HOME: home } = environment;
  const [given, folder] = cache ? [cache, cache] : [home, join(home ?? '', '.cache')];
  // Node.js tries for ever to make a folder in one that can never be, as below /proc
  if (given && isAbsolute(given) && existsSync(given))
    enableCompileCache(join(folder, 'towline', 'compiled'));
}
