/** Everything that is wrong with a document, each with its line: envelope, schema, rules, and what is not built. */
import { API_VERSION, documentSchema, isDescribed, isKind, KINDS } from '../../crds/kinds.ts';
import type { DescribedKind, Kind } from '../../crds/kinds.ts';
import { notBuilt } from '../../crds/supported.ts';
import type { Json } from '../../shared/wire.ts';
import type { Problem } from './catalog.ts';
import type { Document, Fault, Path } from './documents.ts';
import { alternatives, fieldFaults, printPath, printValue } from './issues.ts';
import type { FieldFault } from './issues.ts';
import { isFields, type Fields } from '../fields.ts';
import { didYouMean } from '../nearest.ts';
import { withoutNulls } from '../nulls.ts';
import { ruleFaults } from './rules.ts';

/** A fault with its code; refusals for what is not built are told from mistakes. */
export interface CodedFault extends Fault {
  readonly code: Problem['code'];
}

/** The document without nulls, and with an empty spec where it has none. */
export function stripped(fields: Fields): { [key: string]: Json } & { spec: Json } {
  const bare = withoutNulls({ ...fields });
  return isFields(bare) ? { ...bare, spec: bare['spec'] ?? {} } : { spec: {} };
}

/** All of them at once, by line. */
export function allFaults(document: Document, fields: Fields, kind: Kind | undefined): CodedFault[] {
  const envelope = envelopeFaults(fields);
  // A document of another version has other fields: one sentence about the version is enough.
  const body =
    kind === undefined || fields['apiVersion'] !== API_VERSION ? [] : bodyFaults(document, fields, kind);
  return [
    ...document.faults.map((fault): CodedFault => ({ ...fault, code: 'Invalid' })),
    ...envelope.map((fault) => coded(document, 'Invalid', fault)),
    ...body,
  ].sort((a, b) => a.line - b.line);
}

const coded = (document: Document, code: Problem['code'], { path, text }: FieldFault): CodedFault => ({
  line: document.lineAt(path),
  code,
  text,
});

function envelopeFaults(fields: Fields): FieldFault[] {
  const faults: FieldFault[] = [];
  const { apiVersion, kind } = fields;
  if (apiVersion === undefined) {
    faults.push({ path: [], text: `apiVersion is missing: write apiVersion: ${API_VERSION}` });
  } else if (apiVersion !== API_VERSION) {
    const text = `apiVersion ${printValue(apiVersion)} does not exist; did you mean “${API_VERSION}”?`;
    faults.push({ path: ['apiVersion'], text });
  }
  if (kind === undefined) {
    faults.push({ path: [], text: `kind is missing: it is ${alternatives(KINDS)}` });
  } else if (!isKind(kind)) {
    const hint =
      didYouMean(typeof kind === 'string' ? kind : '', KINDS) || `; the kinds are ${KINDS.join(', ')}`;
    faults.push({ path: ['kind'], text: `kind ${printValue(kind)} does not exist${hint}` });
  }
  return faults;
}

function bodyFaults(document: Document, fields: Fields, kind: Kind): CodedFault[] {
  const body = { ...stripped(fields), apiVersion: API_VERSION, kind };
  const mistakes = fieldFaults(documentSchema(kind), body);
  if (!isDescribed(kind)) {
    const text = `${kind} is not built yet in this version: nothing that it says is done`;
    const missing: CodedFault = { line: document.line, code: 'NotYetSupported', text };
    return [missing, ...mistakes.map((fault) => coded(document, 'Invalid', fault))];
  }
  const broken = ruleFaults(kind, body.spec).map(({ path, text }) => ({ path: ['spec', ...path], text }));
  return [
    ...[...mistakes, ...broken].map((fault) => coded(document, 'Invalid', fault)),
    ...notBuiltFaults(kind, body.spec)
      .filter(({ path }) => !mistakes.some((mistake) => isBelow(path, mistake.path)))
      .map((fault) => coded(document, 'NotYetSupported', fault)),
  ];
}

const isBelow = (path: Path, above: Path): boolean =>
  above.every((step, index) => String(step) === String(path[index]));

function notBuiltFaults(kind: DescribedKind, spec: Json): FieldFault[] {
  return notBuilt(kind, spec).map(({ path, value, built }) => {
    const full = ['spec', ...path];
    const remedy =
      built.length > 0
        ? `built is ${alternatives(built.map(String))}`
        : 'leave it out until a later version has it';
    return {
      path: full,
      text: `${printPath(full)}: ${printValue(value)} is not built yet in this version; ${remedy}`,
    };
  });
}
