/**
 * Trees read through looks that note what is asked. A reading of the newest tree stands on the one of the tree before:
 * what was answered there and cannot have changed is not answered again. Pure but for what it remembers.
 */
import { canonical } from '../../shared/canonical.ts';
import type { Json } from '../../shared/wire.ts';
import type { TreeEntry } from '../git/source.ts';
import {
  belowNote,
  changedNotes,
  entryNote,
  factKey,
  factNote,
  folderNote,
  withoutCovered,
} from './changes.ts';
import type { TreeIndex } from './folders.ts';
import type { Parses } from './parses.ts';
import type { Parser, Question, View } from './view.ts';

/** A view that also says what it noted, for stages that work on the index itself. */
export interface Look extends View {
  readonly index: TreeIndex;
  noteEntry(path: string): void;
  noteBelow(folder: string): void;
  /** Content of an object of the tree, whose entry was asked for; undefined: not read yet. */
  blob(id: string): Buffer | undefined;
  /** Everything that was asked. */
  readonly notes: ReadonlySet<string>;
  /** Some content was not there: the answer is not one. */
  readonly incomplete: boolean;
  /** Why some content cannot be read. */
  readonly failure: string | undefined;
}

export interface Reading {
  readonly index: TreeIndex;
  /** Whether this reading stands on that one. */
  standsOn(other: Reading): boolean;
  look(): Look;
  /**
   * Whether everything noted of the tree before is so in this one. `unknown`: contents are needed to tell. Where they
   * cannot be read it is not so.
   */
  holds(notes: Iterable<string>): boolean | 'unknown';
  /** Object ids that were asked for and are not here; emptied by the call. */
  takeNeeds(): readonly string[];
  /** An object's content, or why there is none. */
  give(id: string, content: Buffer | Error): void;
  /** Forgets contents; what was parsed of them stays. */
  dropContents(): void;
}

interface Fact {
  readonly question: Question<Json>;
  readonly value: Json;
  readonly stamp: string;
  readonly notes: readonly string[];
}

/** What looks into one tree share. */
interface State {
  readonly index: TreeIndex;
  readonly parses: Parses;
  readonly contents: Map<string, Buffer | Error>;
  readonly needs: Set<string>;
  readonly facts: Map<string, Fact>;
  /** Answers that some content was missing for. They stay so until content comes, and many ask for the same ones. */
  readonly pending: Map<string, Incomplete>;
  readonly asking: Set<string>;
  readonly before: Before;
}

interface Before {
  /** Only for telling whether it is the one: what it holds is not kept. */
  readonly reading: WeakRef<Reading> | undefined;
  readonly facts: ReadonlyMap<string, Fact>;
  readonly changed: ReadonlySet<string>;
}

const states = new WeakMap<Reading, State>();

/** `before`: the reading of an older tree of the same repository. */
export function makeReading(index: TreeIndex, parses: Parses, before?: Reading): Reading {
  const state: State = {
    index,
    parses,
    contents: new Map(),
    needs: new Set(),
    facts: new Map(),
    pending: new Map(),
    asking: new Set(),
    before: standingOn(index, before),
  };
  const reading: Reading = {
    index,
    standsOn: (other) => state.before.reading?.deref() === other,
    look: () => makeLook(state),
    holds: (notes) => holds(state, notes),
    takeNeeds: () => {
      const needs = [...state.needs];
      state.needs.clear();
      state.pending.clear();
      return needs;
    },
    give: (id, content) => {
      state.contents.set(id, content);
      state.pending.clear();
    },
    dropContents: () => {
      state.contents.clear();
      // what failed is tried again, and what waits asks again
      state.pending.clear();
    },
  };
  states.set(reading, state);
  return reading;
}

function standingOn(index: TreeIndex, reading: Reading | undefined): Before {
  const state = reading && states.get(reading);
  if (state === undefined) return { reading: undefined, facts: new Map(), changed: new Set() };
  const changed = changedNotes(state.index, index);
  return { reading: new WeakRef(reading!), facts: state.facts, changed };
}

function holds(state: State, notes: Iterable<string>): boolean | 'unknown' {
  const keys: string[] = [];
  for (const note of notes) {
    const key = factKey(note);
    if (key !== undefined) keys.push(key);
    else if (state.before.changed.has(note)) return false;
  }
  let unknown = false;
  for (const key of keys) {
    const old = state.before.facts.get(key);
    if (old === undefined) return false;
    const now = factOf(state, old.question);
    if (now.kind === 'incomplete' && now.failure !== undefined) return false;
    if (now.kind === 'incomplete') unknown = true;
    else if (now.fact.stamp !== old.stamp) return false;
  }
  return unknown ? 'unknown' : true;
}

interface Incomplete {
  readonly kind: 'incomplete';
  readonly value: Json;
  readonly failure: string | undefined;
}

type Answered = { readonly kind: 'fact'; readonly fact: Fact } | Incomplete;

function factOf(state: State, question: Question<Json>): Answered {
  const { key } = question;
  const waiting = state.pending.get(key);
  if (waiting !== undefined) return waiting;
  const known = state.facts.get(key) ?? carried(state, key);
  if (known !== undefined) return { kind: 'fact', fact: known };
  if (state.asking.has(key)) throw new Error(`the answer to ${key} asks for itself`);
  const look = makeLook(state);
  const value = answerOf(state, question, look);
  if (look.incomplete) {
    const incomplete: Incomplete = { kind: 'incomplete', value, failure: look.failure };
    state.pending.set(key, incomplete);
    return incomplete;
  }
  const fact = { question, value, stamp: canonical(value), notes: withoutCovered(look.notes) };
  state.facts.set(key, fact);
  return { kind: 'fact', fact };
}

function answerOf({ asking }: State, question: Question<Json>, look: Look): Json {
  asking.add(question.key);
  try {
    return question.answer(look);
  } finally {
    asking.delete(question.key);
  }
}

/** The answer of the tree before, where it holds. */
function carried(state: State, key: string): Fact | undefined {
  const old = state.before.facts.get(key);
  if (old === undefined || holds(state, old.notes) !== true) return undefined;
  state.facts.set(key, old);
  return old;
}

/** One look: what it asked, and what it could not learn. */
interface Asking {
  readonly state: State;
  readonly notes: Set<string>;
  incomplete: boolean;
  failure: string | undefined;
}

function makeLook(state: State): Look {
  const { index } = state;
  const notes = new Set<string>();
  const asking: Asking = { state, notes, incomplete: false, failure: undefined };
  return {
    index,
    notes,
    get incomplete() {
      return asking.incomplete;
    },
    get failure() {
      return asking.failure;
    },
    noteEntry: (path) => void notes.add(entryNote(path)),
    noteBelow: (folder) => void notes.add(belowNote(folder)),
    blob: (id) => blobOf(asking, id),
    entry: (path) => entryOf(asking, path),
    hasFolder: (path) => {
      notes.add(folderNote(path));
      return index.folders.has(path);
    },
    below: (folder) => {
      notes.add(belowNote(folder));
      const range = index.folders.get(folder);
      return range === undefined ? [] : index.entries.slice(range.start, range.end);
    },
    content: (path) => {
      const id = regularId(asking, path);
      return id === undefined ? undefined : blobOf(asking, id);
    },
    parsed: (path, parser) => parsedOf(asking, path, parser),
    fact: (question) => answerTo(asking, question),
  };
}

function entryOf({ state, notes }: Asking, path: string): TreeEntry | undefined {
  notes.add(entryNote(path));
  const position = state.index.positions.get(path);
  return position === undefined ? undefined : state.index.entries[position];
}

function regularId(asking: Asking, path: string): string | undefined {
  const entry = entryOf(asking, path);
  return entry?.mode === '100644' || entry?.mode === '100755' ? entry.id : undefined;
}

function blobOf(asking: Asking, id: string): Buffer | undefined {
  const { contents, needs } = asking.state;
  const content = contents.get(id);
  if (Buffer.isBuffer(content)) return content;
  asking.incomplete = true;
  if (content === undefined) needs.add(id);
  else asking.failure ??= content.message;
  return undefined;
}

function parsedOf<T>(asking: Asking, path: string, parser: Parser<T>): T | undefined {
  const id = regularId(asking, path);
  if (id === undefined) return undefined;
  const { parses } = asking.state;
  const known = parses.get(parser, id);
  if (known !== undefined) return known.value;
  const content = blobOf(asking, id);
  return content === undefined ? undefined : parses.parse(parser, id, content);
}

function answerTo<T extends Json>(asking: Asking, question: Question<T>): T {
  asking.notes.add(factNote(question.key));
  const answered = factOf(asking.state, question);
  if (answered.kind === 'fact') return answered.fact.value as T;
  asking.incomplete = true;
  asking.failure ??= answered.failure;
  return answered.value as T;
}
