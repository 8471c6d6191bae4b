/**
 * The selections of one repository, kept from tree to tree. One is made again only when something that it asked of the
 * tree has another answer: the cost of a commit follows what it changed.
 */
import pLimit from 'p-limit';
import { limits } from '../../shared/limits.ts';
import type { Reason } from '../../shared/outcome.ts';
import { OversizedBlobError, type Tree, type TreeEntry } from '../git/source.ts';
import { blobId } from './blob.ts';
import { withoutCovered } from './changes.ts';
import { indexTree } from './folders.ts';
import type { MadeFile } from './infer.ts';
import { makeParses } from './parses.ts';
import { makeReading, type Reading } from './reading.ts';
import { selectInputs, type Selection, type SelectRequest } from './select.ts';

/** A selection with the digest of its files. */
export interface Selected extends Selection {
  readonly filesDigest: string;
}

export interface Selections {
  /**
   * Chooses for every request, by a key that says everything of a request besides the tree. Equal keys of one tree and
   * the next are taken for equal requests. What cannot be read is a problem of those that need it.
   */
  selectAll(tree: Tree, requests: ReadonlyMap<string, SelectRequest>): Promise<ReadonlyMap<string, Selected>>;
  /** Content of a made file of the newest tree. Rejects when it is not what its id says. */
  contentOf(file: MadeFile): Promise<Buffer>;
}

interface Kept {
  readonly selected: Selected;
  readonly notes: readonly string[];
  /** Of the tree that it was last known to hold for. */
  readonly reading: Reading;
}

interface Newest {
  readonly tree: Tree;
  readonly reading: Reading;
}

interface Choosing extends Newest {
  readonly digestOf: (files: readonly TreeEntry[]) => string;
}

/** Blobs in flight at once; one process per repository serves them. */
const READS = 32;
/** Selections whose contents are held at the same time. */
const CHUNK = 200;

/** Nothing is known yet. `digestOf` is asked once for each selection. */
export function makeSelections(digestOf: (files: readonly TreeEntry[]) => string): Selections {
  const parses = makeParses(limits.parsedBytes);
  let newest: Newest | undefined;
  let kept: ReadonlyMap<string, Kept> = new Map();

  const moveTo = async (tree: Tree): Promise<Newest> => {
    const before = newest;
    const isSame = before?.tree.commit.id === tree.commit.id && before.tree.lacking === tree.lacking;
    const reading = isSame
      ? before.reading
      : makeReading(indexTree(await tree.entries()), parses, before?.reading);
    // its contents come from where it was read last
    newest = { tree, reading };
    return newest;
  };
  return {
    async selectAll(tree, requests) {
      const at = await moveTo(tree);
      const results = await selectEach({ ...at, digestOf }, requests, kept);
      kept = new Map([...results].flatMap(([key, one]) => ('notes' in one ? [[key, one]] : [])));
      return new Map([...results].map(([key, { selected }]) => [key, selected]));
    },
    async contentOf(file) {
      if (newest === undefined) throw new Error(`no tree to make ${file.path} from`);
      return makeContent(newest, file);
    },
  };
}

/** What cannot be read now is not kept: it is tried again. */
type Result = Kept | { readonly selected: Selected };

async function selectEach(
  choosing: Choosing,
  requests: ReadonlyMap<string, SelectRequest>,
  before: ReadonlyMap<string, Kept>,
): Promise<ReadonlyMap<string, Result>> {
  const results = new Map<string, Result>();
  const strings = new Map<string, string>();
  let chunk: Open[] = [];
  const finish = async (): Promise<void> => {
    while (chunk.length > 0) {
      chunk = chunk.filter((open) => !settle({ choosing, results, strings }, open));
      if (chunk.length > 0) await fetchNeeds(choosing);
    }
    choosing.reading.dropContents();
  };
  for (const [key, request] of requests) {
    const open = { key, request, before: before.get(key) };
    if (settle({ choosing, results, strings }, open)) continue;
    if (chunk.push(open) >= CHUNK) await finish();
  }
  await finish();
  return new Map([...requests.keys()].map((key) => [key, results.get(key) as Result]));
}

interface Open {
  readonly key: string;
  readonly request: SelectRequest;
  readonly before: Kept | undefined;
}

interface Settling {
  readonly choosing: Choosing;
  readonly results: Map<string, Result>;
  /** Notes that many selections have are held once. */
  readonly strings: Map<string, string>;
}

/** Whether a request has its result; otherwise contents are needed first. One that fails keeps back no other one. */
function settle(settling: Settling, open: Open): boolean {
  try {
    return trySettle(settling, open);
  } catch (error) {
    settling.results.set(open.key, { selected: failed(open.request, error as Error) });
    return true;
  }
}

function trySettle({ choosing, results, strings }: Settling, { key, request, before }: Open): boolean {
  const { reading, digestOf } = choosing;
  const held = before === undefined ? false : holdsIn(reading, before);
  if (held === 'unknown') return false;
  if (held && before !== undefined) {
    results.set(key, { ...before, reading });
    return true;
  }
  const look = reading.look();
  const selection = selectInputs(request, look);
  if (look.failure !== undefined)
    results.set(key, { selected: without({ code: 'SourceUnavailable', text: look.failure }) });
  else if (look.incomplete) return false;
  else {
    const notes = withoutCovered(look.notes).map((note) => sharedIn(strings, note));
    const selected = { ...selection, filesDigest: digestOf(selection.files) };
    results.set(key, { selected, notes, reading });
  }
  return true;
}

const holdsIn = (reading: Reading, before: Kept): boolean | 'unknown' =>
  before.reading === reading || (reading.standsOn(before.reading) && reading.holds(before.notes));

function sharedIn(strings: Map<string, string>, text: string): string {
  const known = strings.get(text);
  if (known !== undefined) return known;
  strings.set(text, text);
  return text;
}

/** What keeps one project from being read keeps no other one. */
const without = (problem: Reason): Selected => ({
  files: [],
  made: new Map(),
  large: new Map(),
  problems: [problem],
  warnings: [],
  filesDigest: '',
});

/** A mistake in the hub, or content that no parser was meant to meet: a stack without its inputs must not run. */
const failed = ({ placement: { source } }: SelectRequest, { message }: Error): Selected =>
  without({
    code: 'Invalid',
    text: `the inputs of ${source.project} cannot be told: ${message.slice(0, 500)}; list them in include and set inferInputs: false`,
  });

/** Fetches what was asked for. A file too large to be held counts as empty: it decides nothing, and no artifact takes it. */
async function fetchNeeds({ reading, tree }: Newest): Promise<void> {
  const needs = reading.takeNeeds();
  if (needs.length === 0) throw new Error('a choice of inputs waits for nothing');
  const limit = pLimit({ concurrency: READS, rejectOnClear: true });
  await Promise.all(
    needs.map(async (id) => reading.give(id, await limit(() => tree.blob(id)).catch(asContent))),
  );
}

const asContent = (error: unknown): Buffer | Error =>
  error instanceof OversizedBlobError ? Buffer.alloc(0) : (error as Error);

async function makeContent(newest: Newest, file: MadeFile): Promise<Buffer> {
  for (;;) {
    const look = newest.reading.look();
    const content = file.content(look);
    if (look.failure !== undefined) throw new Error(look.failure);
    if (look.incomplete) await fetchNeeds(newest);
    else if (blobId(content) === file.id) return content;
    else throw new Error(`${file.path} cannot be made again as it was when it was chosen`);
  }
}
