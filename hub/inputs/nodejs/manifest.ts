/** package.json as inference reads it. */
import { isFields } from '../../fields.ts';
import type { PackageManifest } from '../../lockfiles/lockfile.ts';
import type { Parser, View } from '../view.ts';
import { inside } from '../paths.ts';

export type ReadManifest =
  | { readonly kind: 'manifest'; readonly manifest: PackageManifest }
  | { readonly kind: 'broken'; readonly why: string };

/** Bytes. No package.json that a person writes comes near it. */
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

/** Reads a package.json, a byte order mark before it included. */
export const MANIFEST: Parser<ReadManifest> = {
  name: 'nodejs/manifest',
  parse: (content) => {
    if (content.length > MAX_MANIFEST_BYTES)
      return broken(`has ${content.length} bytes, more than the ${MAX_MANIFEST_BYTES} that are read`);
    try {
      const value: unknown = JSON.parse(content.toString('utf8').replace(/^\uFEFF/, ''));
      return isFields(value) ? { kind: 'manifest', manifest: checked(value) } : broken('is not a map');
    } catch (error) {
      return broken(`is not JSON (${(error as Error).message.slice(0, 200)})`);
    }
  },
};

const broken = (why: string): ReadManifest => ({ kind: 'broken', why });

/** Fields that hold a version or a place for each name of a package. */
export const DEPENDENCY_FIELDS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
] as const;

/** What is not of the type that its field has is left out, as the package managers leave it out or refuse it. */
function checked(fields: Readonly<Record<string, unknown>>): PackageManifest {
  const { name, version, ...rest } = fields;
  const dependencies = DEPENDENCY_FIELDS.map((field) => [field, textsOf(fields[field])] as const);
  return {
    ...rest,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof version === 'string' ? { version } : {}),
    ...Object.fromEntries(dependencies),
  };
}

/** Entries of a map whose values are texts. */
const textsOf = (value: unknown): Record<string, string> =>
  isFields(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

/** A dependency as a package.json has it. */
export interface Edge {
  readonly name: string;
  /** Version, range, or where it comes from. */
  readonly spec: string;
  /** Its absence does not fail an install. */
  readonly optional: boolean;
}

/** Dependencies of all fields; a name that stands in several fields comes once for each. */
export const edgesOf = (manifest: PackageManifest): Edge[] =>
  DEPENDENCY_FIELDS.flatMap((field) =>
    Object.entries(manifest[field] ?? {}).map(([name, spec]) => ({
      name,
      spec,
      optional: field === 'optionalDependencies' || field === 'peerDependencies',
    })),
  );

/** The package.json of a folder; undefined when there is none, or none that can be read. */
export function manifestIn(view: View, folder: string): PackageManifest | undefined {
  const read = view.parsed(inside(folder, 'package.json'), MANIFEST);
  return read?.kind === 'manifest' ? read.manifest : undefined;
}

/** Why the package.json of a folder keeps packages from being installed. */
export function brokenManifest(view: View, folder: string): string | undefined {
  const path = inside(folder, 'package.json');
  const read = view.parsed(path, MANIFEST);
  return read?.kind === 'broken' ? `${path} ${read.why}: mend it` : undefined;
}
