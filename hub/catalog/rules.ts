/** Rules of a spec that a schema of single fields cannot say: either-or, uniqueness, and what a field may not do. */
import type { DescribedKind } from '../../crds/kinds.ts';
import type { Override, StackSpec } from '../../crds/stack.ts';
import type { ValueSource } from '../../crds/fields.ts';
import type { Json } from '../../shared/wire.ts';
import type { FieldFault } from './issues.ts';
import { printPath } from './issues.ts';

/** Variables by which a run would get around what the hub knows of it, with the field to use. */
const RESERVED: Readonly<Record<string, string>> = {
  PULUMI_BACKEND_URL: 'backend.url',
  PULUMI_STACK: 'pulumiStack',
};

type Fields = StackSpec | Override;

/** What is wrong with a spec, by paths from the spec. Values that the schema refuses are left to it. */
export function ruleFaults(kind: DescribedKind, spec: Json): FieldFault[] {
  if (kind !== 'Stack' && kind !== 'Defaults') return [];
  const stack = asMap(spec) as StackSpec;
  const overrides = asList<Override>(stack.overrides);
  return [
    ...fieldsFaults(stack, []),
    ...sourceFaults(stack.source),
    ...overrides.flatMap((override, index) =>
      fieldsFaults(asMap(override) as Override, ['overrides', index]),
    ),
  ];
}

const asMap = (value: unknown): object => (value !== null && typeof value === 'object' ? value : {});
const asList = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);

function sourceFaults(source: StackSpec['source']): FieldFault[] {
  if (source?.dir === undefined || source.program === undefined) return [];
  return [{ path: ['source', 'program'], text: 'spec.source names a dir and a program: keep one' }];
}

function fieldsFaults(fields: Fields, at: readonly (string | number)[]): FieldFault[] {
  const fault = (path: readonly (string | number)[], text: string): FieldFault => {
    const full = [...at, ...path];
    return { path: full, text: `${printPath(['spec', ...full])} ${text}` };
  };
  return [
    ...envFaults(fields.env, fault),
    ...fileFaults(fields.files, fault),
    ...Object.entries(asMap(fields.configSecrets)).flatMap(([key, source]) =>
      oneSource(source as ValueSource).map((text) => fault(['configSecrets', key], text)),
    ),
    ...backendFaults(fields, fault),
  ];
}

type MakeFault = (path: readonly (string | number)[], text: string) => FieldFault;

function envFaults(env: Fields['env'], fault: MakeFault): FieldFault[] {
  const entries = asList<NonNullable<Fields['env']>[number]>(env);
  return entries.flatMap((entry, index) => {
    const path = ['env', index];
    const { name, value, valueFrom } = asMap(entry) as typeof entry;
    const reserved = RESERVED[name];
    const earlier = entries.findIndex((other) => (asMap(other) as typeof entry).name === name);
    return [
      ...(value === undefined && valueFrom === undefined ? [fault(path, 'needs value or valueFrom')] : []),
      ...(value !== undefined && valueFrom !== undefined
        ? [fault(path, 'has value and valueFrom: keep one')]
        : []),
      ...(valueFrom === undefined
        ? []
        : oneSource(valueFrom).map((text) => fault([...path, 'valueFrom'], text))),
      ...(reserved === undefined ? [] : [fault(path, `sets ${name}: say it as spec.${reserved}`)]),
      ...(earlier < index ? [fault(path, `sets ${name} a second time: keep one`)] : []),
    ];
  });
}

function fileFaults(files: Fields['files'], fault: MakeFault): FieldFault[] {
  const entries = asList<NonNullable<Fields['files']>[number]>(files);
  return entries.flatMap((entry, index) => {
    const { path, valueFrom, secretKeyRef, configMapKeyRef } = asMap(entry) as typeof entry;
    const at = ['files', index];
    const sources = [valueFrom, secretKeyRef, configMapKeyRef].filter((source) => source !== undefined);
    const earlier = entries.findIndex((other) => (asMap(other) as typeof entry).path === path);
    return [
      ...(sources.length === 1
        ? []
        : [fault(at, 'needs exactly one of valueFrom, secretKeyRef, configMapKeyRef')]),
      ...(valueFrom === undefined
        ? []
        : oneSource(valueFrom).map((text) => fault([...at, 'valueFrom'], text))),
      ...(leavesFolder(path)
        ? [fault([...at, 'path'], 'must be a path below the folder of the run’s files')]
        : []),
      ...(earlier < index ? [fault(at, `writes ${path} a second time: keep one`)] : []),
    ];
  });
}

const leavesFolder = (path: unknown): boolean =>
  typeof path === 'string' &&
  (path.startsWith('/') ||
    path.includes('\\') ||
    path.split('/').some((part) => part === '..' || part === ''));

function oneSource(source: ValueSource): string[] {
  const given = Object.keys(asMap(source));
  return given.length === 1 ? [] : ['needs exactly one of secretKeyRef, configMapKeyRef, env, file'];
}

function backendFaults(fields: Fields, fault: MakeFault): FieldFault[] {
  const url = (asMap(fields.backend) as { url?: unknown }).url;
  if (typeof url !== 'string' || !/^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:[^/?#@]*@/i.test(url)) return [];
  const text = 'holds a password: take it out of Git, and give it to the run through env with valueFrom';
  return [fault(['backend', 'url'], text)];
}
