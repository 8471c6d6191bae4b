/** Where a stack's program lives: a repository at its own ref, or at one that the stack names. */
import type { StackSpec } from '../../crds/stack.ts';
import type { Origin } from '../catalog/catalog.ts';
import { readRef } from '../git/remote.ts';
import { nameAtRef } from '../git/settings.ts';
import type { AskedSource, RefChoice } from '../git/source.ts';
import type { FieldFault } from './inputs.ts';

export type Sought =
  | {
      readonly kind: 'sought';
      /** The configured repository. */
      readonly repository: string;
      /** Of the source: the repository's, or with the ref. */
      readonly name: string;
      /** What the hub has to follow for it. */
      readonly asked?: AskedSource;
    }
  | { readonly kind: 'fault'; readonly field: string; readonly text: string };

/** What `source` of a stack whose manifest stands at `manifest` names. */
export function soughtBy({ source }: StackSpec, manifest: Origin): Sought {
  const { repository: named = 'self', ref } = source ?? {};
  const repository = named === 'self' ? manifest.repository : named;
  if (ref === undefined) return { kind: 'sought', repository, name: repository };
  const choice = choiceOf(ref);
  const read = choice === undefined ? undefined : readRef(choice);
  if (choice === undefined || read?.kind !== 'ref') {
    const text =
      read?.kind === 'refused' ? read.problem : 'ref names not one of branch, tag, semver and commit';
    return { kind: 'fault', field: 'source.ref', text: `spec.source.${text}` };
  }
  const name = nameAtRef(repository, read.name);
  return { kind: 'sought', repository, name, asked: { name, repository, ref: choice } };
}

type Written = NonNullable<NonNullable<StackSpec['source']>['ref']>;

function choiceOf({ branch, tag, semver, commit }: Written): RefChoice | undefined {
  const choices: RefChoice[] = [
    ...(branch === undefined ? [] : [{ branch }]),
    ...(tag === undefined ? [] : [{ tag }]),
    ...(semver === undefined ? [] : [{ semver }]),
    ...(commit === undefined ? [] : [{ commit }]),
  ];
  return choices.length === 1 ? choices[0] : undefined;
}

/** What the sources are by now, by name. */
export interface Sources {
  readonly read: { has(name: string): boolean };
  /** Not read since start, with what keeps them. */
  readonly unread: ReadonlyMap<string, string>;
}

/** Why nothing can be said about a stack: the source of its program was not read since start. */
export function unreadSource(
  { name, repository, asked }: Sought & { readonly kind: 'sought' },
  { read, unread }: Sources,
): FieldFault | undefined {
  const why = unread.get(name);
  const text = (state: string): string => `repository ${name}, which holds its program, ${state}`;
  if (asked === undefined)
    return why === undefined
      ? undefined
      : { field: 'source.repository', text: text(`was not read since start: ${why}`) };
  if (read.has(name) || !(read.has(repository) || unread.has(repository))) return undefined;
  // What is asked for the first time is not followed yet.
  const state = why === undefined ? 'was not read yet' : `was not read since start: ${why}`;
  return { field: 'source.ref', text: text(state) };
}
