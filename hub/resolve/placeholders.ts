/** `{cluster}`, `{namespace}`, `{name}`, `{label:KEY}` and `{var:KEY}` in texts; `{{` stands for a brace. */
import type { Json } from '../../shared/wire.ts';

/** What placeholders stand for; labels and vars are the cluster's. */
export interface Values {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
}

/** A filled value, or what keeps it from being filled, in sentences. */
export interface Filled<T> {
  readonly value: T;
  readonly faults: readonly string[];
}

const PLACEHOLDER = /\{\{|\{([^{}]*)\}|\{/g;

/** Fills a text. A placeholder without a value stays and is a fault. */
export function fillText(text: string, values: Values): Filled<string> {
  if (!text.includes('{')) return { value: text, faults: [] };
  const faults: string[] = [];
  const value = text.replace(PLACEHOLDER, (written: string, inner: string | undefined) => {
    if (written === '{{') return '{';
    const found = inner === undefined ? undefined : lookUp(inner, values);
    if (typeof found === 'string') return found;
    faults.push(found?.missing ?? `“${written}” is no placeholder: write {{ for a brace`);
    return written;
  });
  return { value, faults };
}

function lookUp(inner: string, values: Values): string | { readonly missing: string } | undefined {
  if (inner === 'cluster' || inner === 'namespace' || inner === 'name') return values[inner];
  const [, source, key = ''] = /^(label|var):(.+)$/.exec(inner) ?? [];
  if (source === undefined) return undefined;
  const map = source === 'label' ? values.labels : values.vars;
  if (Object.hasOwn(map, key)) return map[key];
  const where = source === 'label' ? 'metadata.labels' : 'spec.vars';
  return { missing: `{${inner}} has no value: Cluster ${values.cluster} has no ${key} in its ${where}` };
}

/** Fills every text within a value; keys stay as they are. */
export function fillJson(value: Json, values: Values): Filled<Json> {
  if (typeof value === 'string') return fillText(value, values);
  if (value === null || typeof value !== 'object') return { value, faults: [] };
  if (Array.isArray(value)) {
    const items = value.map((item) => fillJson(item, values));
    return { value: items.map((item) => item.value), faults: items.flatMap(({ faults }) => faults) };
  }
  const fields = Object.entries(value).map(([key, inner]) => [key, fillJson(inner, values)] as const);
  return {
    value: Object.fromEntries(fields.map(([key, filled]) => [key, filled.value])),
    faults: fields.flatMap(([, { faults }]) => faults),
  };
}
