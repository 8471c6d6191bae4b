import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Book } from '../../hub/book.ts';
import type { CatalogFile } from '../../hub/catalog/catalog.ts';
import type { SourceView } from '../../hub/git/source.ts';
import { EMPTY_HISTORY } from '../../hub/history.ts';
import { freshMemory, pass, type PassEnd, type PollEdges } from '../../hub/poll.ts';

const HARBOUR: CatalogFile = {
  repository: 'fleet',
  trust: 'fleet',
  path: 'fleet.yaml',
  content: Buffer.from('apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: harbour}\n'),
};

interface Ran {
  readonly end: PassEnd;
  /** Calls of the book, in order. */
  readonly calls: readonly string[];
}

function bookOf(calls: string[], loaded: boolean): Book {
  return {
    inForce: new Map(),
    loaded,
    clusters: ['harbour'],
    term: 1,
    load: async () => void calls.push('load'),
    lead: async () => (calls.push('lead'), 'stored'),
    publish: async () => (calls.push('publish'), 'stored'),
    invalidate: () => void calls.push('invalidate'),
  };
}

/** The world of a pass over one cluster, with what a test cares about changed. */
const edgesOf = (change: Partial<PollEdges>): PollEdges => ({
  refresh: async () => [],
  want: () => undefined,
  nextDue: () => 0,
  observe: () => undefined,
  leads: () => true,
  follow: () => undefined,
  boardGap: () => undefined,
  gather: async () => ({ files: [HARBOUR], broken: new Map() }),
  measure: async () => ({ wanted: [], refused: [], warnings: [] }),
  withEquals: async (wanted) => wanted,
  book: bookOf([], true),
  missingArtifacts: async () => [],
  build: () => assert.fail('nothing is wanted'),
  upload: () => assert.fail('nothing is wanted'),
  asked: () => ({ seenGen: new Map(), republish: new Map() }),
  knownFiles: () => undefined,
  history: () => EMPTY_HISTORY,
  remember: () => undefined,
  show: () => undefined,
  at: () => undefined,
  ...change,
});

/** A pass over one cluster; `lease` says whether this hub leads at the time of each call of the book. */
async function run(lease: (calls: readonly string[]) => boolean, loaded: boolean): Promise<Ran> {
  const calls: string[] = [];
  const book = bookOf(calls, loaded);
  const edges = edgesOf({ leads: () => lease(calls), book });
  return { end: await pass(edges, freshMemory(), { now: 1, dirty: true }), calls };
}

const TABLE: readonly (readonly [
  string,
  (calls: readonly string[]) => boolean,
  boolean,
  readonly string[],
])[] = [
  ['leads and has read', () => true, true, ['publish']],
  ['leads and has read nothing yet', () => true, false, ['load', 'lead', 'publish']],
  ['does not lead', () => false, true, ['load', 'invalidate']],
  // it slept in between: whoever led meanwhile has written what was read
  [
    'led before it read the streams, and no longer',
    (calls) => calls.length === 0,
    false,
    ['load', 'invalidate'],
  ],
  ['leads since it read the streams', (calls) => calls.length > 0, true, ['load', 'lead', 'publish']],
];

for (const [name, lease, loaded, expected] of TABLE)
  test(`a hub that ${name}: ${expected.join(', ')}`, async () => {
    const { end, calls } = await run(lease, loaded);
    assert.deepEqual(calls, expected);
    assert.equal(end.kind, expected.includes('publish') ? 'planned' : 'following');
  });

test('what a repository keeps back does not keep back the others, and is planned again with the next poll', async () => {
  const views = (['fleet', 'shop'] as const).map((name): SourceView => ({
    ...{ name, url: name, ref: 'refs/heads/main', trust: name === 'fleet' ? 'fleet' : 'stacks' },
    ...{ manifests: [], state: 'Ready', since: 1, checkedAt: 1 },
    tree: {
      ...{ repository: name, ref: 'refs/heads/main' },
      commit: { id: name, subject: '', author: '', time: 1 },
      entries: async () => [],
      blob: () => Promise.reject(new Error('missing')),
    },
  }));
  const planOnce = async (broken: readonly string[], memory = freshMemory()): Promise<readonly string[]> => {
    const gathered = { files: [HARBOUR], broken: new Map(broken.map((name) => [name, 'damaged'])) };
    const edges = edgesOf({ refresh: async () => views, gather: async () => gathered });
    const ends = [];
    for (const now of [1, 2]) ends.push((await pass(edges, memory, { now, dirty: now === 1 })).kind);
    return ends;
  };
  assert.deepEqual(await planOnce([]), ['planned', 'idle']);
  assert.deepEqual(await planOnce(['shop']), ['planned', 'planned']);
  assert.deepEqual(await planOnce(['fleet']), ['waiting', 'waiting']);
});
