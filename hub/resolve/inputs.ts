/** A merged spec on one cluster → the run inputs: placeholders filled, defaults left out, lists in a fixed order. */
import type { ValueSource } from '../../crds/fields.ts';
import type { StackSpec } from '../../crds/stack.ts';
import type { Json, RunInputs, ValueFrom } from '../../shared/wire.ts';
import { fillJson, fillText } from './placeholders.ts';
import type { Values } from './placeholders.ts';

/** Something wrong with a field, by its first two steps. */
export interface FieldFault {
  readonly field: string;
  readonly text: string;
}

export interface Inputs {
  readonly inputs: Omit<RunInputs, 'project' | 'pulumiStack'>;
  readonly faults: readonly FieldFault[];
}

/** Everything of the inputs but project and stack name. Absent fields are those at their default. */
export function inputsOf(spec: StackSpec, values: Values): Inputs {
  const run = spec.run ?? {};
  const backend = backendOf(spec.backend, values);
  const config = configOf(spec.config, values);
  const env = envOf(spec.env, values);
  const configSecrets = Object.entries(spec.configSecrets ?? {}).map(
    ([key, source]) => [key, valueFrom(source)] as const,
  );
  const inputs: Inputs['inputs'] = {
    ...(backend.value && { backend: backend.value }),
    ...(spec.secretsProvider === undefined ? {} : { secretsProvider: spec.secretsProvider }),
    ...(spec.stackConfig === undefined || spec.stackConfig === 'merge'
      ? {}
      : { stackConfig: spec.stackConfig }),
    ...(Object.keys(config.value).length > 0 && { config: config.value }),
    ...(configSecrets.length > 0 && { configSecrets: Object.fromEntries(configSecrets) }),
    ...(env.value.length > 0 && { env: env.value }),
    ...filesOf(spec.files),
    ...(run.refresh === true && { refresh: true as const }),
    ...listOf('targets', run.targets),
    ...listOf('excludes', run.excludes),
    ...listOf('replace', run.replace),
    ...(run.runProgram === true && { runProgram: true as const }),
    ...(run.install === 'none' && { install: 'none' as const }),
    ...(run.build !== undefined && run.build.length > 0 && { build: run.build }),
  };
  return { inputs, faults: [...backend.faults, ...config.faults, ...env.faults] };
}

interface Part<T> {
  readonly value: T;
  readonly faults: readonly FieldFault[];
}

const faultsAt = (field: string, texts: readonly string[]): FieldFault[] =>
  texts.map((text) => ({ field, text: `spec.${field}: ${text}` }));

function backendOf(backend: StackSpec['backend'], values: Values): Part<RunInputs['backend']> {
  const url = fillText(backend?.url ?? '', values);
  const value = {
    ...(url.value === '' ? {} : { url: url.value }),
    ...(backend?.scope === 'cluster' ? { scope: 'cluster' as const } : {}),
  };
  return {
    value: Object.keys(value).length > 0 ? value : undefined,
    faults: faultsAt('backend.url', url.faults),
  };
}

function configOf(config: StackSpec['config'], values: Values): Part<Record<string, Json>> {
  const filled = Object.entries(config ?? {}).map(([key, value]) => [key, fillJson(value, values)] as const);
  return {
    value: Object.fromEntries(filled.map(([key, { value }]) => [key, value])),
    faults: filled.flatMap(([key, { faults }]) => faultsAt(`config.${key}`, faults)),
  };
}

function envOf(env: StackSpec['env'], values: Values): Part<NonNullable<RunInputs['env']>> {
  const filled = (env ?? []).map((entry) => {
    const { name, value, valueFrom: source } = entry;
    if (source !== undefined) return { variable: { name, valueFrom: valueFrom(source) }, faults: [] };
    const text = fillText(value ?? '', values);
    return { variable: { name, value: text.value }, faults: faultsAt('env', text.faults) };
  });
  return {
    value: filled.map(({ variable }) => variable).sort((a, b) => (a.name < b.name ? -1 : 1)),
    faults: filled.flatMap(({ faults }) => faults),
  };
}

function filesOf(files: StackSpec['files']): Pick<RunInputs, 'files'> {
  if (files === undefined || files.length === 0) return {};
  const placed = files.map(({ path, valueFrom: source, env }) => ({
    path,
    valueFrom: valueFrom(source ?? {}),
    ...(env === undefined ? {} : { env }),
  }));
  return { files: placed.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** The catalog has refused every other source. */
const valueFrom = ({ env, file }: ValueSource): ValueFrom =>
  env === undefined ? { file: file ?? '' } : { env };

type ListField = 'targets' | 'excludes' | 'replace';

/** URN lists are sets: their order and repetition change no run. */
const listOf = (
  field: ListField,
  list: readonly string[] | undefined,
): Partial<Record<ListField, string[]>> =>
  list === undefined || list.length === 0 ? {} : { [field]: [...new Set(list)].sort() };
