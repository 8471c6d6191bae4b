/**
 * Does what a placement would run now differ from the order in force? Pure: digests decide, everything else explains.
 */
import { canonical, sha256 } from '../shared/canonical.ts';
import { MAX_REASON_INPUTS, type Reason } from '../shared/outcome.ts';
import type { Order, RunInputs } from '../shared/wire.ts';
import type { Origin } from './catalog/catalog.ts';
import { fileValue, type TreeEntry } from './git/source.ts';
import { placementKey, sameInputs, type Wanted } from './placement.ts';

/**
 * `new`: no order yet, or it was forgotten. `changed`: other inputs. `requested`: another `runRequest`.
 * `resumed`: the order in force is a hold that no longer applies. `policy`: how to run changed, not what.
 */
export type ChangeKind = 'new' | 'changed' | 'requested' | 'resumed' | 'policy' | 'unchanged';

export interface Change {
  readonly kind: ChangeKind;
  readonly reasons: readonly Reason[];
}

/** The files of the order in force where the hub still knows them: path to mode and object id. */
export type KnownFiles = ReadonlyMap<string, string>;

/** Compares every placement with its order in force, by placement key. */
export function detectAll(
  all: readonly Wanted[],
  inForce: ReadonlyMap<string, Order>,
  knownFiles: (key: string, inputDigest: string) => KnownFiles | undefined,
): ReadonlyMap<string, Change> {
  return new Map(
    all.map((wanted) => {
      const key = placementKey(wanted.placement);
      const order = inForce.get(key);
      return [key, detect(wanted, order, order && knownFiles(key, order.inputDigest))];
    }),
  );
}

/** Compares one placement with its order in force. */
export function detect(wanted: Wanted, order: Order | undefined, known: KnownFiles | undefined): Change {
  if (order === undefined) return change('new', [{ code: 'NewPlacement', text: 'no order before' }]);
  if (order.action === 'forget')
    return change('new', [{ code: 'NewPlacement', text: 'it was removed before' }]);
  if (!sameInputs(wanted, order)) return change('changed', inputReasons(wanted, order, known));
  if ((order.runRequest ?? '') !== (wanted.placement.runRequest ?? '')) {
    const text = `runRequest is now ${JSON.stringify(wanted.placement.runRequest ?? '')}`;
    return change('requested', [{ code: 'RunRequested', text }]);
  }
  if (order.action === 'hold')
    return change('resumed', [{ code: 'OnlyPolicyChanged', text: resumeText(order) }]);
  if (order.inputDigest !== wanted.inputDigest)
    return change('policy', [
      { code: 'OnlyPolicyChanged', text: 'the inputs are the same; their digest has a new version' },
    ]);
  if (order.policyDigest !== wanted.policyDigest) {
    return change('policy', [
      { code: 'OnlyPolicyChanged', text: 'the inputs are the same; how to run them changed' },
    ]);
  }
  if (!sameFile(wanted.placement.origin, order.source.manifest)) {
    const text = `the inputs are the same; the manifest is now ${wanted.placement.origin.path} of ${wanted.placement.origin.repository}`;
    return change('policy', [{ code: 'OnlyPolicyChanged', text }]);
  }
  return change('unchanged', [
    { code: 'Unchanged', text: `the inputs are those of the order of ${order.source.commit}` },
  ]);
}

/** An order that names another file than the manifest's would look orphaned when that file cannot be read. */
const sameFile = (a: Origin, b: Origin): boolean => a.repository === b.repository && a.path === b.path;

const change = (kind: ChangeKind, reasons: readonly Reason[]): Change => ({ kind, reasons });

const resumeText = (order: Order): string => `no longer ${order.reasons[0]?.code ?? 'held'}`;

function inputReasons(wanted: Wanted, order: Order, known: KnownFiles | undefined): readonly Reason[] {
  const fields = changedFields(wanted.placement.inputs, order.inputs);
  const reasons: Reason[] = [];
  if (known !== undefined) {
    const files = changedFiles(wanted.files, known);
    const made = new Set(wanted.files.flatMap((file) => (wanted.made.has(file.id) ? [file.path] : [])));
    if (files.length > 0) reasons.push(reasonOf('InputChanged', files, made));
  }
  if (fields.length > 0) reasons.push(reasonOf('ConfigChanged', fields));
  return reasons.length > 0
    ? reasons
    : [
        {
          code: 'InputChanged',
          text: `files changed since ${order.source.commit}; their list is not kept any more`,
        },
      ];
}

interface ChangedInput {
  readonly path: string;
  readonly from?: string;
  readonly to?: string;
}

const NONE: ReadonlySet<string> = new Set();

/** `made`: no commit has these files as they are here, so nobody should look there for what is different. */
function reasonOf(
  code: 'InputChanged' | 'ConfigChanged',
  inputs: readonly ChangedInput[],
  made: ReadonlySet<string> = NONE,
): Reason {
  const names = inputs.slice(0, 3).map(({ path }) => (made.has(path) ? `${path} (as cut for it)` : path));
  const more = inputs.length > names.length ? ` and ${inputs.length - names.length} more` : '';
  return {
    code,
    text: `${code === 'InputChanged' ? 'file' : 'field'} ${names.join(', ')}${more} changed`,
    inputs: inputs.slice(0, MAX_REASON_INPUTS),
    inputCount: inputs.length,
  };
}

function changedFiles(files: readonly TreeEntry[], known: KnownFiles): ChangedInput[] {
  return differences(new Map(files.map((file) => [file.path, fileValue(file)])), known);
}

/** Values of fields enter reasons as short hashes: a config value may be private. */
function changedFields(now: RunInputs, before: RunInputs): ChangedInput[] {
  return differences(flatten(now), flatten(before));
}

function differences(now: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): ChangedInput[] {
  const paths = [...new Set([...now.keys(), ...before.keys()])].sort();
  return paths
    .map((path) => ({ path, from: before.get(path), to: now.get(path) }))
    .filter(({ from, to }) => from !== to)
    .map(({ path, from, to }) => ({
      path,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }));
}

function flatten(inputs: RunInputs): ReadonlyMap<string, string> {
  const rows = Object.entries(inputs).flatMap(([field, value]): [string, unknown][] =>
    field === 'config' || field === 'configSecrets'
      ? Object.entries(value as Record<string, unknown>).map(([key, inner]) => [`${field}.${key}`, inner])
      : [[field, value]],
  );
  return new Map(rows.map(([path, value]) => [path, sha256(canonical(value)).slice(0, 12)]));
}
