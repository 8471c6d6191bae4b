/** What one source file imports, and which paths it spells out. */
import { parse, type ParserOptions } from '@babel/parser';
import { posix } from 'node:path';
import type { Parser } from '../view.ts';
import { referencesIn, type Source } from './references.ts';

/** Bytes. Generated clients have some MB; a second is spent on each 5 MB, once for each content. */
const MAX_SOURCE_BYTES = 8 * 1024 * 1024;

const SOURCE_FILE = /\.(?:[mc]?[jt]s|[jt]sx)$/;

/** Whether a file is read for imports. */
export const isSource = (path: string): boolean => SOURCE_FILE.test(path);

type Plugins = NonNullable<ParserOptions['plugins']>;
const COMMON: Plugins = ['decorators-legacy', 'decoratorAutoAccessors', 'explicitResourceManagement'];
const TYPESCRIPT: Plugins = [...COMMON, 'typescript'];
const DIALECTS = {
  ts: [TYPESCRIPT],
  dts: [[...COMMON, ['typescript', { dts: true }]]],
  tsx: [[...TYPESCRIPT, 'jsx']],
  // JavaScript with types is written as well: with Flow's, or with TypeScript's under the wrong name
  js: [[...COMMON, 'jsx'], [...COMMON, 'jsx', 'flow'], [...TYPESCRIPT, 'jsx'], TYPESCRIPT],
} satisfies Record<string, readonly Plugins[]>;

/** The parser of a source file. */
export function sourceParser(path: string): Parser<Source> {
  if (/\.d\.[mc]?ts$/.test(path)) return PARSERS.dts;
  const extension = posix.extname(path);
  if (extension === '.tsx') return PARSERS.tsx;
  return /^\.[mc]?ts$/.test(extension) ? PARSERS.ts : PARSERS.js;
}

const parserOf = (dialect: keyof typeof DIALECTS): Parser<Source> => ({
  name: `nodejs/source ${dialect}`,
  parse: (content) => {
    if (content.length > MAX_SOURCE_BYTES)
      return {
        imports: [],
        paths: [],
        broken: `has ${content.length} bytes, more than the ${MAX_SOURCE_BYTES} that are read`,
      };
    return read(content.toString('utf8'), DIALECTS[dialect]);
  },
});

const PARSERS = { ts: parserOf('ts'), dts: parserOf('dts'), tsx: parserOf('tsx'), js: parserOf('js') };

/** The first dialect without errors; else what the first one that got through made of it. */
function read(code: string, dialects: readonly Plugins[]): Source {
  let best: Source | undefined;
  let why = '';
  for (const plugins of dialects) {
    try {
      const tree = parse(code, { ...OPTIONS, plugins });
      const source = referencesIn(tree);
      const [error] = tree.errors ?? [];
      if (error === undefined) return source;
      best ??= { ...source, broken: error.message };
    } catch (error) {
      why ||= (error as Error).message.slice(0, 200);
    }
  }
  return best ?? { imports: [], paths: [], broken: why };
}

/** Everything is allowed that some compiler lets pass: a file is read here, not judged. */
const OPTIONS = {
  sourceType: 'unambiguous',
  errorRecovery: true,
  attachComment: false,
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
  allowReturnOutsideFunction: true,
  allowSuperOutsideMethod: true,
  allowUndeclaredExports: true,
} satisfies ParserOptions;
