import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Book } from '../../hub/book.ts';
import type { CatalogFile } from '../../hub/catalog/catalog.ts';
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

/** A pass over one cluster; `lease` says whether this hub leads at the time of each call of the book. */
async function run(lease: (calls: readonly string[]) => boolean, loaded: boolean): Promise<Ran> {
  const calls: string[] = [];
  const book: Book = {
    inForce: new Map(),
    loaded,
    clusters: ['harbour'],
    term: 1,
    load: async () => void calls.push('load'),
    lead: async () => (calls.push('lead'), 'stored'),
    publish: async () => (calls.push('publish'), 'stored'),
    invalidate: () => void calls.push('invalidate'),
  };
  const edges: PollEdges = {
    refresh: async () => [],
    nextDue: () => 0,
    observe: () => undefined,
    leads: () => lease(calls),
    follow: () => undefined,
    boardGap: () => undefined,
    gather: async () => ({ files: [HARBOUR], broken: new Map() }),
    measure: async () => ({ wanted: [], refused: [], warnings: [] }),
    book,
    missingArtifacts: async () => [],
    build: () => assert.fail('nothing is wanted'),
    upload: () => assert.fail('nothing is wanted'),
    asked: () => ({ seenGen: new Map(), republish: new Map() }),
    knownFiles: () => undefined,
    remember: () => undefined,
    show: () => undefined,
    at: () => undefined,
  };
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
