/** Flags of `towline local`. Pure. */
import type { Settings, Values } from '../../shared/config.ts';

export const localSettings = {
  repo: {
    env: 'TOWLINE_LOCAL_REPO',
    type: 'string',
    unit: 'path|url',
    doc: 'Git repository with the manifests',
    optional: true,
  },
  ref: {
    env: 'TOWLINE_LOCAL_REF',
    type: 'string',
    doc: 'branch, refs/tags/NAME or whole commit id; default: the branch that the repository is at',
    optional: true,
  },
  demo: {
    env: 'TOWLINE_LOCAL_DEMO',
    type: 'boolean',
    doc: 'make a sample repository, commit to it six times and show what happens',
    default: false,
  },
  data: {
    env: 'TOWLINE_LOCAL_DATA',
    type: 'string',
    unit: 'folder',
    doc: 'everything that the fleet keeps: streams, ledgers, keys, logs; default: .towline/local here',
    optional: true,
  },
  once: {
    env: 'TOWLINE_LOCAL_ONCE',
    type: 'boolean',
    doc: 'end when every stack is at rest; without it, follow the repository until Ctrl-C',
    default: false,
  },
  json: {
    env: 'TOWLINE_LOCAL_JSON',
    type: 'boolean',
    doc: 'print one JSON document at the end and nothing else',
    default: false,
  },
  listen: {
    env: 'TOWLINE_LOCAL_LISTEN',
    type: 'string',
    unit: 'host:port',
    doc: 'address of the API; default: a free port of this machine',
    optional: true,
  },
  allowEnv: {
    env: 'TOWLINE_LOCAL_ALLOW_ENV',
    type: 'list',
    unit: 'name',
    doc: 'environment variables that stacks may take values from (valueFrom: env)',
    default: [],
  },
  allowFiles: {
    env: 'TOWLINE_LOCAL_ALLOW_FILES',
    type: 'list',
    unit: 'path',
    doc: 'files that stacks may take values from (valueFrom: file)',
    default: [],
  },
} as const satisfies Settings;

export type LocalValues = Values<typeof localSettings>;

/** What is wrong with flags that are fine one by one. */
export function contradictions(values: LocalValues): readonly string[] {
  if (values.demo)
    return [values.repo, values.ref].some(Boolean)
      ? ['--demo makes its own repository: leave out --repo and --ref']
      : [];
  return values.repo === '' ? ['--repo must say which repository, or --demo that a sample is wanted'] : [];
}

/** A ref as the hub's list of repositories has it. */
export function refOf(ref: string): { branch: string } | { tag: string } | { commit: string } {
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(ref)) return { commit: ref };
  if (ref.startsWith('refs/tags/')) return { tag: ref.slice('refs/tags/'.length) };
  return { branch: ref.replace(/^refs\/heads\//, '') };
}
