/** A document → a manifest, or everything that is wrong with it. */
import { labelName, objectName } from '../../crds/fields.ts';
import {
  DEFAULT_NAMESPACE,
  FLEET_ONLY,
  GROUP,
  isKind,
  KINDS,
  NAMESPACED,
  VERSION,
} from '../../crds/kinds.ts';
import type { DescribedKind, Kind } from '../../crds/kinds.ts';
import type { Json } from '../../shared/wire.ts';
import type { Document } from './documents.ts';
import { allFaults, stripped } from './faults.ts';
import type { CodedFault } from './faults.ts';
import { isFields, type Fields } from '../fields.ts';
import { nearest } from '../nearest.ts';

const METADATA_FIELDS: ReadonlySet<string> = new Set(['name', 'namespace', 'labels', 'annotations']);

export interface Identity {
  readonly kind: Kind;
  /** Of namespaced kinds only. */
  readonly namespace?: string;
  readonly name: string;
}

/** A document that says what its kind allows. */
export interface Accepted {
  readonly identity: Identity & { readonly kind: DescribedKind };
  readonly line: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Json;
  readonly written: Json;
  readonly lines: Readonly<Record<string, number>>;
}

/**
 * `foreign`: not of our group. `misplaced`: a kind that this repository may not hold, so it counts for nothing.
 * `refused`: it is there and cannot be used. `unreadable`: refused, and whose it is cannot be told.
 */
export type Checked =
  | { readonly kind: 'foreign' }
  | { readonly kind: 'accepted'; readonly manifest: Accepted }
  | { readonly kind: 'misplaced'; readonly identity?: Identity; readonly fault: CodedFault }
  | {
      readonly kind: 'refused';
      readonly identity: Identity;
      readonly line: number;
      readonly faults: readonly [CodedFault, ...CodedFault[]];
    }
  | {
      readonly kind: 'unreadable';
      readonly faults: readonly CodedFault[];
      /** It does not say its kind, so it may be of any. */
      readonly kindless: boolean;
    };

/** Checks one document; `fleet` says whether the repository may decide about the whole fleet. */
export function checkDocument(document: Document, fleet: boolean): Checked {
  const fields = document.value;
  if (!isFields(fields) || !isOurs(fields)) return { kind: 'foreign' };
  const kind = kindOf(fields);
  const identity = kind === undefined ? undefined : identityOf(kind, fields);
  if (kind !== undefined && FLEET_ONLY.has(kind) && !fleet) {
    const text = `a ${kind} counts only in a repository with trust: fleet; it is ignored here`;
    return {
      kind: 'misplaced',
      ...(identity && { identity }),
      fault: { line: document.line, code: 'Invalid', text },
    };
  }
  const faults = allFaults(document, fields, kind);
  if (identity === undefined)
    return { kind: 'unreadable', faults, kindless: typeof fields['kind'] !== 'string' };
  const [first, ...others] = faults;
  if (first !== undefined)
    return { kind: 'refused', identity, line: document.line, faults: [first, ...others] };
  return { kind: 'accepted', manifest: accept(document, fields, identity) };
}

/** Of our group by `apiVersion`, or by what stands where it should. */
function isOurs(fields: Fields): boolean {
  const version = fields['apiVersion'];
  if (typeof version === 'string') return version === GROUP || version.startsWith(`${GROUP}/`);
  return Object.values(fields).some(
    (value) => typeof value === 'string' && value.startsWith(`${GROUP}/${VERSION}`),
  );
}

function kindOf(fields: Fields): Kind | undefined {
  const written = fields['kind'];
  return typeof written === 'string' ? meantKind(written) : undefined;
}

/** The kind, or the one that is meant: a misspelt Stack must not look like a stack that is gone. */
export function meantKind(written: string): Kind | undefined {
  const kind = isKind(written) ? written : nearest(written, KINDS);
  return isKind(kind) ? kind : undefined;
}

const isMetadataField = (key: string): boolean => METADATA_FIELDS.has(key);

/** Whose the document is. Beside an unknown field the namespace is not taken for granted: it may be the misspelt one. */
function identityOf(kind: Kind, fields: Fields): Identity | undefined {
  const metadata = fields['metadata'];
  const name = isFields(metadata) ? objectName.safeParse(metadata['name']) : undefined;
  if (!isFields(metadata) || name?.success !== true) return undefined;
  if (!NAMESPACED.has(kind)) return { kind, name: name.data };
  if (metadata['namespace'] === undefined && !Object.keys(metadata).every(isMetadataField)) return undefined;
  const namespace = labelName.safeParse(metadata['namespace'] ?? DEFAULT_NAMESPACE);
  return namespace.success ? { kind, namespace: namespace.data, name: name.data } : undefined;
}

function accept(document: Document, fields: Fields, identity: Identity): Accepted {
  const metadata = stripped(fields)['metadata'] as Fields;
  return {
    identity: identity as Accepted['identity'],
    line: document.line,
    labels: (metadata['labels'] ?? {}) as Record<string, string>,
    annotations: (metadata['annotations'] ?? {}) as Record<string, string>,
    spec: stripped(fields)['spec'] ?? {},
    written: fields['spec'] ?? {},
    lines: linesOf(document, fields['spec'] ?? {}),
  };
}

function linesOf(document: Document, spec: Json): Record<string, number> {
  if (!isFields(spec)) return {};
  return Object.fromEntries(
    Object.entries(spec).flatMap(([key, value]) => {
      const inner = value !== null && typeof value === 'object' ? Object.keys(value) : [];
      return [
        [key, document.lineAt(['spec', key])],
        ...inner.map((step) => [`${key}.${step}`, document.lineAt(['spec', key, step])] as const),
      ];
    }),
  );
}
