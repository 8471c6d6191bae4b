import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { VERDICTS, type Decision } from '../../hub/decision.ts';
import type { SourceView } from '../../hub/git/source.ts';
import { addPlanned, EMPTY_HISTORY, historyOf, whyAt, type History } from '../../hub/history.ts';
import type { Done } from '../../hub/poll.ts';
import { remember, type Memory } from '../../hub/remember.ts';
import { makePlacement } from './make.ts';

/** A memory that is nothing but a history. */
function memory(): Memory & { readonly history: History } {
  let history = EMPTY_HISTORY;
  return {
    get history() {
      return history;
    },
    addPlanned: (planned, owns) => void (history = addPlanned(history, planned, owns && { owns })),
    recordFiles: () => undefined,
    keepOnly: () => undefined,
  };
}

const REPOSITORIES = ['fleet', 'programs'] as const;
const placements = (['web', 'api'] as const).map((name, n) => {
  const placement = makePlacement({ name });
  return { ...placement, source: { ...placement.source, repository: REPOSITORIES[n] ?? '' } };
});

const viewAt = (name: string, commit: string): SourceView => ({
  ...{ name, url: name, ref: 'refs/heads/main', trust: 'fleet', manifests: [] },
  ...{ state: 'Ready', since: 1, checkedAt: 1 },
  tree: {
    ...{ repository: name, ref: 'refs/heads/main' },
    commit: { id: commit, subject: '', author: '', time: 1 },
    entries: async () => [],
    blob: () => Promise.reject(new Error('missing')),
  },
});

interface Pass {
  /** The number of the commit that each repository is at. */
  readonly at: readonly [number, number];
  readonly verdicts: readonly [Decision['verdict'], Decision['verdict']];
}

const idOf = (repository: string, commit: number): string => `${repository}-${commit}`;

function doneOf({ at, verdicts }: Pass, now: number): Done {
  const decisions = placements.map(({ cluster, stack }, n): Decision => ({
    ...{ cluster, stack, verdict: verdicts[n] ?? 'run' },
    reasons: [{ code: 'Unchanged', text: '' }],
  }));
  const nothing = { wanted: [], refused: [], warnings: [] };
  return {
    now,
    views: REPOSITORIES.map((name, n) => viewAt(name, idOf(name, at[n] ?? 0))),
    catalog: {} as Done['catalog'],
    resolution: { placements, refused: [], warnings: [], clusters: [], asked: [] },
    measured: nothing,
    plan: { steps: [], decisions },
    orders: [],
  };
}

const passes = fc.array(
  fc.record({
    at: fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 })),
    verdicts: fc.tuple(fc.constantFrom(...VERDICTS), fc.constantFrom(...VERDICTS)),
  }),
  { minLength: 1, maxLength: 12 },
);

test('of several repositories too, what stands is the same after a restart', () => {
  fc.assert(
    fc.property(passes, (all) => {
      const kept = memory();
      all.forEach((pass, n) => remember(kept, doneOf(pass, n)));
      const again = historyOf(kept.history.commits, kept.history.base);
      const verdicts = ({ standing }: History): readonly unknown[] =>
        placements.map(
          ({ cluster, stack }) => standing.get(`${cluster}/shop/${stack.name}`)?.decision.verdict,
        );
      assert.deepEqual(verdicts(again), verdicts(kept.history));
    }),
    { numRuns: 500 },
  );
});

test('what a pass decided is told by the commit that moved, whichever repository it is of', () => {
  const kept = memory();
  remember(kept, doneOf({ at: [0, 0], verdicts: ['run', 'run'] }, 1));
  remember(kept, doneOf({ at: [0, 1], verdicts: ['hold', 'hold'] }, 2));
  for (const placement of placements) {
    const why = (commit: string): readonly unknown[] => {
      const found = whyAt(kept.history, commit, placement);
      return [found?.here, found?.decided?.decision.verdict];
    };
    assert.deepEqual(why('programs-1'), [true, 'hold']);
    assert.equal(why('fleet-0').at(-1), 'run');
  }
});
