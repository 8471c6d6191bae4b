/**
 * The hub's state on disk: a cache that saves work and keeps explanations. It can be deleted at any time; what is damaged
 * counts as missing. One process holds a folder; changes are gathered and written by one flush at a time.
 */
import type { Log } from '../shared/log.ts';
import { claimFolder } from '../shared/pidfile.ts';
import { makeBatch, type Batch } from './batch.ts';
import type { PlannedCommit } from './decision.ts';
import { fileValue, type TreeEntry } from './git/source.ts';
import { addPlanned, forgetPlacements, type Adding, type History } from './history.ts';
import { clusterOfKey } from './placement.ts';
import type { Kept } from './shards.ts';
import { makeStoreFiles } from './storefiles.ts';

/** Least time between two flushes, ms: a burst of passes costs one write. */
const FLUSH_MS = 200;
/** Characters of one list of inputs that are kept; reasons name no files of a longer one. */
const LIST_CHARACTERS = 2 * 1024 * 1024;

export interface Store {
  readonly history: History;
  /** Adds a pass with a decision for every placement; `owns`: those that its commit may have brought about, default all. */
  addPlanned(planned: PlannedCommit, owns?: Adding['owns']): void;
  /** Files of a placement's inputs, path to `mode id`; undefined when those of another digest are kept, or none. */
  knownFiles(key: string, inputDigest: string): ReadonlyMap<string, string> | undefined;
  recordFiles(key: string, inputDigest: string, files: readonly TreeEntry[]): void;
  /** Forgets all placements but these, by key: of what is gone for good nothing is asked any more. */
  keepOnly(keys: ReadonlySet<string>): void;
  /** Resolves when everything recorded so far is on disk. Rejects with the file system's error. */
  flush(): Promise<void>;
  /** Flushes and lets go of the folder. */
  close(): Promise<void>;
}

export type OpenedStore =
  | { readonly kind: 'open'; readonly store: Store }
  /** Another live process has the folder. */
  | { readonly kind: 'taken'; readonly pid: number };

/** Opens a folder, made when missing. Nothing that it holds can keep the hub from starting. */
export async function openStore(folder: string, log: Log): Promise<OpenedStore> {
  const claim = await claimFolder(folder);
  if (claim.kind === 'taken') return claim;
  const files = makeStoreFiles(folder, log);
  const state = { kept: await files.load() };
  const batch = makeBatch({
    write: (clusters) => files.save(state.kept, clusters),
    intervalMs: FLUSH_MS,
    onError: (err) => log.error({ err }, 'the store cannot be written'),
  });
  const close = async (): Promise<void> => {
    try {
      await batch.close();
    } finally {
      await claim.release();
    }
  };
  return {
    kind: 'open',
    store: Object.assign(storeOver(state, batch), { flush: () => batch.flush(), close }),
  };
}

function storeOver(state: { kept: Kept }, batch: Batch): Omit<Store, 'flush' | 'close'> {
  const change = (next: Partial<Kept>, clusters: Iterable<string>): void => {
    state.kept = { ...state.kept, ...next };
    batch.touch(clusters);
  };
  return {
    get history() {
      return state.kept.history;
    },
    addPlanned: (planned, owns) => {
      const before = state.kept.history;
      const history = addPlanned(before, planned, owns && { owns });
      change({ history }, clustersChanged(before, history));
    },
    knownFiles: (key, digest) => {
      const known = state.kept.inputs.get(key);
      return known?.digest === digest ? parseFiles(known.files) : undefined;
    },
    recordFiles: (key, digest, entries) => {
      if (state.kept.inputs.get(key)?.digest === digest) return;
      const files = formatFiles(entries);
      if (files.length > LIST_CHARACTERS) return;
      state.kept.inputs.set(key, { digest, files });
      batch.touch([clusterOfKey(key)]);
    },
    keepOnly: (keys) => {
      const { inputs, history } = state.kept;
      const known = [...inputs.keys(), ...history.base.keys(), ...history.standing.keys()];
      const gone = new Set(known.filter((key) => !keys.has(key)));
      if (gone.size === 0) return;
      const left = new Map([...inputs].filter(([key]) => !gone.has(key)));
      change({ inputs: left, history: forgetPlacements(history, gone) }, [...gone].map(clusterOfKey));
    },
  };
}

/** Clusters with a decision in an entry that came, went or changed. */
function clustersChanged(before: History, after: History): ReadonlySet<string> {
  const changed = [
    ...after.commits.filter((planned) => !before.commits.includes(planned)),
    ...before.commits.filter((planned) => !after.commits.includes(planned)),
  ];
  return new Set(changed.flatMap((planned) => planned.decisions.map((decision) => decision.cluster)));
}

const formatFiles = (entries: readonly TreeEntry[]): string =>
  JSON.stringify(entries.map((entry) => [entry.path, fileValue(entry)]));

const parseFiles = (text: string): ReadonlyMap<string, string> =>
  new Map(JSON.parse(text) as [string, string][]);
