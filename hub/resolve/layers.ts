/** The documents whose fields a stack is made of: the Defaults of its folder and above, then its own. */
import { posix } from 'node:path';
import type { Catalog, DefaultsManifest, Origin, StackManifest } from '../catalog/catalog.ts';
import { isFields, type Fields } from '../fields.ts';
import { printOrigin } from '../problem.ts';

/** One document's fields, with where each stands. */
export interface Layer {
  readonly fields: Fields;
  readonly origin: Origin;
  readonly lines: Readonly<Record<string, number>>;
}

export type Layers =
  /** Farthest first, the stack itself last. */
  | { readonly kind: 'layers'; readonly layers: readonly Layer[] }
  | { readonly kind: 'fault'; readonly text: string };

/** Finds the layers of any stack of a catalog. */
export function layerFinder(catalog: Catalog): (stack: StackManifest) => Layers {
  const defaults = new Map(
    catalog.defaults.map((manifest) => [folderKey(manifest.origin), manifest] as const),
  );
  const broken = new Map([
    ...catalog.unreadable
      .filter(({ mentions }) => mentions.includes('Defaults'))
      .map(({ file, problem }) => [folderKey(file), problem] as const),
    ...catalog.refusedDefaults.map(({ origin, problem }) => [folderKey(origin), problem] as const),
  ]);
  return (stack) => {
    const folders = foldersAbove(posix.dirname(stack.origin.path));
    const keys = folders.map((folder) => `${stack.origin.repository}:${folder}`);
    const fault = keys.map((key) => broken.get(key)).find((problem) => problem !== undefined);
    if (fault !== undefined) {
      const text = `the Defaults of its folder cannot be used (${printOrigin(fault.origin)}: ${fault.text})`;
      return { kind: 'fault', text };
    }
    const found = keys.flatMap((key) => defaults.get(key) ?? []);
    return { kind: 'layers', layers: [...found, stack].map(layerOf) };
  };
}

const folderKey = ({ repository, path }: Origin): string => `${repository}:${posix.dirname(path)}`;

/** The repository's root first, then each folder down to this one. */
function foldersAbove(folder: string): string[] {
  const parts = folder === '.' ? [] : folder.split('/');
  return ['.', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

const NO_FIELDS: Fields = {};

const layerOf = ({ written, origin, lines }: DefaultsManifest | StackManifest): Layer => ({
  fields: isFields(written) ? written : NO_FIELDS,
  origin,
  lines,
});

/** Where a field of the merged spec stands: in the nearest layer that has it, else in the stack's document. */
export function originOf(layers: readonly Layer[], field: string): Origin {
  const fields = field.split('.');
  const candidates = fields.length > 1 ? [field, fields[0] ?? ''] : [field];
  for (const candidate of candidates) {
    const layer = layers.findLast(({ lines }) => candidate in lines);
    if (layer !== undefined) return { ...layer.origin, line: layer.lines[candidate] ?? layer.origin.line };
  }
  return layers.at(-1)?.origin ?? { repository: '', path: '', line: 0 };
}

/** Config keys with the project's name before those that have none; two spellings of one key are a fault. */
export function withProject(
  fields: Fields,
  project: string,
): { readonly fields: Fields; readonly faults: string[] } {
  const faults: string[] = [];
  const named = (['config', 'configSecrets'] as const).flatMap((field) => {
    const map = fields[field];
    if (!isFields(map) || Object.keys(map).every((key) => key.includes(':'))) return [];
    const twice = Object.keys(map).find((key) => !key.includes(':') && `${project}:${key}` in map);
    if (twice !== undefined)
      faults.push(`${field} has “${twice}” and “${project}:${twice}”, which are one key: keep one`);
    const entries = Object.entries(map).map(
      ([key, value]) => [key.includes(':') ? key : `${project}:${key}`, value] as const,
    );
    return [[field, Object.fromEntries(entries)] as const];
  });
  return { fields: named.length === 0 ? fields : { ...fields, ...Object.fromEntries(named) }, faults };
}
