/** Where a Pulumi stack lives: its full name, and the one name of its backend that all spellings share. */
import { posix } from 'node:path';

/** The backend of a stack that names none, nor does its project. */
const PULUMI_CLOUD = 'https://api.pulumi.com';

/** Parameters of object store URLs that change how it is reached, not which place is meant. */
const NEUTRAL_PARAMETERS: ReadonlySet<string> = new Set(['region', 'awssdk', 'profile']);

/** The organisation that every self-managed backend has. */
const OWN = 'organization';

/** One text for all spellings of a backend: scheme and host in lower case, no user, no slash at the end. */
export function normaliseBackend(url: string): string {
  const [, scheme = '', rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(url.trim()) ?? [];
  if (scheme === '') return url.trim() === '' ? PULUMI_CLOUD : url.trim();
  const kind = scheme.toLowerCase();
  const [place = '', query = ''] = splitOnce(rest, '?');
  if (kind === 'file') return `file://${withoutSlash(posix.normalize(place === '' ? '.' : place))}`;
  const [authority = '', path = ''] = splitOnce(place, '/');
  const host = (authority.split('@').at(-1) ?? '').toLowerCase();
  const folder = withoutSlash(posix.normalize(`/${path}`));
  const parameters = query
    .split('&')
    .filter((part) => part !== '' && !NEUTRAL_PARAMETERS.has(splitOnce(part, '=')[0] ?? ''))
    .sort();
  return `${kind}://${host}${folder}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

export type StackName =
  | { readonly kind: 'name'; readonly name: string; readonly warning?: string }
  | { readonly kind: 'fault'; readonly text: string };

export interface Naming {
  /** Undefined: the stack of the project is called like the cluster. */
  readonly written: string | undefined;
  readonly project: string;
  readonly cluster: string;
  /** Of the stack or its project; empty: Pulumi Cloud, or what the agent is told. */
  readonly backendUrl: string;
}

/** The full name `organization/project/stack`; shorter forms are completed, with a warning. */
export function stackName({ written, project, cluster, backendUrl }: Naming): StackName {
  const parts = (written ?? cluster).split('/');
  const full = complete(parts, project);
  if (full === undefined) return fault(`“${written}” is no stack name: write organization/${project}/STACK`);
  const odd = full.find((part) => !/^[A-Za-z0-9_.-]{1,100}$/.test(part));
  if (odd !== undefined) {
    return fault(`“${odd}” cannot be part of a stack name (letters, digits, “-_.”, at most 100)`);
  }
  const [organization, middle] = full;
  if (middle !== project) return fault(`its project is “${middle}”, but the project file says “${project}”`);
  const cloud = /^https?:/i.test(backendUrl);
  if (cloud && parts.length === 1) {
    return fault(
      `${normaliseBackend(backendUrl)} needs an organisation: write ORGANISATION/${project}/${parts[0]}`,
    );
  }
  if (!cloud && backendUrl !== '' && organization !== OWN) {
    return fault(
      `a self-managed backend knows no organisation “${organization}”: write ${OWN}/${project}/${full[2]}`,
    );
  }
  const name = full.join('/');
  const warning = `“${written}” is completed to “${name}”: write it in full`;
  return { kind: 'name', name, ...(written === undefined || parts.length === 3 ? {} : { warning }) };
}

const fault = (text: string): StackName => ({ kind: 'fault', text });

function complete(parts: readonly string[], project: string): [string, string, string] | undefined {
  const [first = '', second = '', third = ''] = parts;
  if (parts.length === 1) return [OWN, project, first];
  if (parts.length === 2) return [first, project, second];
  return parts.length === 3 ? [first, second, third] : undefined;
}

/** The one owner of a Pulumi stack in the fleet; a cluster-scoped backend is another place in each cluster. */
export const claimOf = (place: {
  readonly backendUrl: string;
  readonly pulumiStack: string;
  readonly cluster?: string;
}): string =>
  `${normaliseBackend(place.backendUrl)} ${place.pulumiStack}${place.cluster === undefined ? '' : ` @${place.cluster}`}`;
