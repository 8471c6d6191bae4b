/** Settings of the hub, and the list of repositories that it watches. */
import { parseDocument, LineCounter } from 'yaml';
import * as z from 'zod';
import { durationMs } from '../crds/fields.ts';
import type { Settings } from '../shared/config.ts';
import { limits } from '../shared/limits.ts';
import { authSchema } from './git/auth.ts';
import type { Quota } from './git/folder.ts';
import { readSettings } from './git/settings.ts';
import { DRIVER_CHOICES, type DriverChoice, type RepositorySettings } from './git/source.ts';

const MIB = 1024 * 1024;

export const hubSettings = {
  dataDir: {
    env: 'TOWLINE_DATA_DIR',
    type: 'string',
    unit: 'folder',
    doc: 'cache of the hub; may be deleted',
  },
  repositories: {
    env: 'TOWLINE_REPOSITORIES',
    type: 'string',
    unit: 'file',
    doc: 'YAML file with the list of repositories to watch',
  },
  nats: {
    env: 'TOWLINE_NATS',
    type: 'list',
    unit: 'url',
    doc: 'NATS servers',
    default: ['nats://127.0.0.1:4222'],
  },
  natsSeedFile: {
    env: 'TOWLINE_NATS_SEED_FILE',
    type: 'string',
    unit: 'file',
    doc: 'seed of the hub’s nkey',
  },
  secretFile: {
    env: 'TOWLINE_SECRET_FILE',
    type: 'string',
    unit: 'file',
    doc: 'secret that artifacts are sealed with, at least 32 bytes; keep it outside the data folder',
  },
  listen: {
    env: 'TOWLINE_LISTEN',
    type: 'string',
    unit: 'host:port',
    doc: 'API address',
    default: '127.0.0.1:8420',
  },
  apiTokenFile: {
    env: 'TOWLINE_API_TOKEN_FILE',
    type: 'string',
    unit: 'file',
    doc: 'token that API calls must bear; needed to listen beyond this machine',
    optional: true,
  },
  gitDriver: {
    env: 'TOWLINE_GIT_DRIVER',
    type: 'string',
    doc: 'who reads repositories that do not say: auto (the git program if it can be used), native, isomorphic',
    default: 'auto',
  },
  mirrorQuota: {
    env: 'TOWLINE_MIRROR_QUOTA',
    type: 'number',
    unit: 'MiB',
    doc: 'disk that the mirror of one repository may take; a new one is made beside the old one',
    default: limits.mirrorBytes / MIB,
  },
  diskReserve: {
    env: 'TOWLINE_DISK_RESERVE',
    type: 'number',
    unit: 'MiB',
    doc: 'disk that has to stay free: nothing is fetched when there is less',
    default: limits.diskReserveBytes / MIB,
  },
  hostConnections: {
    env: 'TOWLINE_HOST_CONNECTIONS',
    type: 'number',
    unit: 'connections',
    doc: 'connections to one Git host at once, over all repositories on it',
    default: limits.hostConnections,
  },
  hostRequests: {
    env: 'TOWLINE_HOST_REQUESTS',
    type: 'number',
    unit: 'requests/minute',
    doc: 'requests to one Git host a minute, over all repositories on it; polls wait for their turn',
    default: limits.hostRequestsPerMinute,
  },
  logLevel: {
    env: 'TOWLINE_LOG_LEVEL',
    type: 'string',
    doc: 'trace, debug, info, warn, error',
    default: 'info',
  },
} as const satisfies Settings;

const refSchema = z.union([
  z.strictObject({ branch: z.string().min(1) }),
  z.strictObject({ tag: z.string().min(1) }),
  z.strictObject({ semver: z.string().min(1) }),
  z.strictObject({ commit: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a whole commit id') }),
]);

const repositorySchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'lower-case letters, digits and dashes'),
  url: z.string().min(1),
  ref: refSchema.default({ branch: 'main' }),
  manifests: z.array(z.string()).default(['**/*.yaml', '**/*.yml']),
  trust: z.enum(['fleet', 'stacks', 'sources']),
  interval: z
    .string()
    .regex(/^\d+(ms|s|m)$/, 'a duration such as 15s')
    .optional(),
  auth: authSchema.optional(),
  submodules: z.strictObject({ allow: z.array(z.url({ protocol: /^(https?|ssh)$/ })) }).optional(),
  driver: z.enum(DRIVER_CHOICES).optional(),
  nonFastForward: z.enum(['allow', 'refuse']).optional(),
});

const fileSchema = z.strictObject({ repositories: z.array(repositorySchema).min(1) });

export type Repositories =
  | { readonly kind: 'repositories'; readonly repositories: readonly RepositorySettings[] }
  | { readonly kind: 'errors'; readonly errors: readonly string[] };

/** What mirrors may take, as set. */
export const quotaOf = (values: { readonly mirrorQuota: number; readonly diskReserve: number }): Quota => ({
  mirrorBytes: values.mirrorQuota * MIB,
  freeBytes: values.diskReserve * MIB,
});

/** Reads the setting; undefined: there is no such driver. */
export const parseDriver = (text: string): DriverChoice | undefined =>
  DRIVER_CHOICES.find((choice) => choice === text);

/** Reads the repositories file; every error names the file and the line. `driver`: of those that name none. */
export function parseRepositories(file: string, text: string, driver: DriverChoice = 'auto'): Repositories {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const line = (offset: number | undefined): number => counter.linePos(offset ?? 0).line;
  if (document.errors.length > 0) {
    return {
      kind: 'errors',
      errors: document.errors.map((error) => `${file}:${line(error.pos[0])}: ${error.message}`),
    };
  }
  const parsed = fileSchema.safeParse(document.toJS({ maxAliasCount: 10 }));
  if (!parsed.success) {
    const errors = parsed.error.issues.map((issue) => {
      const node = document.getIn(issue.path, true) as
        { range?: readonly [number, number, number] } | undefined;
      return `${file}:${line(node?.range?.[0])}: ${issue.path.join('.')}: ${issue.message}`;
    });
    return { kind: 'errors', errors };
  }
  const repositories = parsed.data.repositories.map(({ interval, ...rest }) => ({
    ...rest,
    driver: rest.driver ?? driver,
    intervalMs: interval === undefined ? limits.pollIntervalMs : durationMs(interval),
  }));
  const unreadable = repositories.flatMap((repository, n) => {
    const read = readSettings(repository);
    const node = document.getIn(['repositories', n], true) as { range?: readonly number[] } | undefined;
    return typeof read === 'string' ? [`${file}:${line(node?.range?.[0])}: ${read}`] : [];
  });
  if (unreadable.length > 0) return { kind: 'errors', errors: unreadable };
  const twice = repositories.filter(
    (one, n) => repositories.findIndex((other) => other.name === one.name) !== n,
  );
  if (twice.length > 0) {
    return { kind: 'errors', errors: twice.map(({ name }) => `${file}: repository ${name} is listed twice`) };
  }
  if (!repositories.some((repository) => repository.trust === 'fleet')) {
    return {
      kind: 'errors',
      errors: [`${file}: no repository has trust: fleet, so nothing could name a cluster`],
    };
  }
  return { kind: 'repositories', repositories };
}
