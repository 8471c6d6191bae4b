/**
 * Layers of a spec, farthest first → one spec. Maps merge, lists replace, null takes away, `env` merges by name, and
 * where fields exclude each other the nearer layer's choice replaces the farther one's.
 */
import type { Json } from '../../shared/wire.ts';
import { isFields, type Fields } from '../fields.ts';
import { withoutNulls } from '../nulls.ts';

/** Fields of which one excludes the others, by the path of their map. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  clusters: ['names', 'selector', 'all'],
  source: ['dir', 'program'],
  'source.ref': ['branch', 'tag', 'semver', 'commit'],
};

/** Lists whose nulls mean something: as a value, or to the layer that each of the items is. */
const KEPT_LISTS: ReadonlySet<string> = new Set(['config', 'overrides']);

/** The layers as one; the last is the nearest. */
export const mergeLayers = (layers: readonly Fields[]): Fields =>
  layers.reduce<Fields>((far, near) => mergeMaps(far, near, []), {});

function mergeMaps(far: Fields, near: Fields, path: readonly string[]): { [key: string]: Json } {
  const choices = CHOICES[path.join('.')] ?? [];
  const chosen = choices.some((field) => near[field] !== undefined && near[field] !== null);
  const kept = Object.entries(far).filter(
    ([key]) => !Object.hasOwn(near, key) && !(chosen && choices.includes(key)),
  );
  const merged = Object.entries(near).flatMap(([key, value]): [string, Json][] => {
    if (value === null) return [];
    return [[key, mergeField(Object.hasOwn(far, key) ? far[key] : undefined, value, [...path, key])]];
  });
  return Object.fromEntries([...kept, ...merged]);
}

function mergeField(far: Json | undefined, near: Json, path: readonly string[]): Json {
  if (path.length === 1 && path[0] === 'env') return mergeVariables(far, near);
  if (Array.isArray(near)) return KEPT_LISTS.has(path[0] ?? '') ? near : withoutNulls(near);
  if (!isFields(near)) return near;
  // A reference is one value: half of the farther one would make it point to two places.
  const whole = path.length === 2 && path[0] === 'configSecrets';
  return mergeMaps(!whole && isFields(far) ? far : {}, near, path);
}

function mergeVariables(far: Json | undefined, near: Json): Json {
  const entries = [...listOf(far), ...listOf(near)];
  const byName = new Map(
    entries.map((entry) => [isFields(entry) ? entry['name'] : undefined, entry] as const),
  );
  return [...byName.values()].filter((entry) => !takesAway(entry)).map((entry) => withoutNulls(entry));
}

const takesAway = (entry: Json): boolean =>
  isFields(entry) && entry['value'] === null && (entry['valueFrom'] ?? null) === null;

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
