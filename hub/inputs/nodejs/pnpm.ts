/** pnpm-workspace.yaml as inference reads it. */
import { loadAll } from 'js-yaml';
import { isFields } from '../../fields.ts';
import type { Parser } from '../view.ts';
import { leavesOf } from './resolve.ts';

export interface PnpmWorkspace {
  /** Patterns of folders. */
  readonly packages: readonly string[];
  /** Texts among the rules on packages, some of which are paths. */
  readonly rules: readonly string[];
  /** Why it cannot be read. */
  readonly broken?: string;
}

const NOTHING: PnpmWorkspace = { packages: [], rules: [] };
/** Bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads pnpm-workspace.yaml. */
export const PNPM_WORKSPACE: Parser<PnpmWorkspace> = {
  name: 'nodejs/pnpm-workspace',
  parse: (content) => {
    if (content.length > MAX_BYTES) return { ...NOTHING, broken: `has more than ${MAX_BYTES} bytes` };
    try {
      const [value] = loadAll(content.toString('utf8'));
      if (value === null || value === undefined) return NOTHING;
      if (!isFields(value)) return { ...NOTHING, broken: 'is not a map' };
      const { packages } = value;
      return {
        packages: Array.isArray(packages) ? packages.filter((pattern) => typeof pattern === 'string') : [],
        rules: leavesOf([value['overrides'], value['patchedDependencies']]),
      };
    } catch (error) {
      return {
        ...NOTHING,
        broken: `is not YAML (${(error as Error).message.split('\n')[0]?.slice(0, 200) ?? ''})`,
      };
    }
  },
};
