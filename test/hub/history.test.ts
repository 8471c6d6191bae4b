import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { VERDICTS, type Decision, type PlannedCommit } from '../../hub/decision.ts';
import {
  addPlanned,
  commitsBehind,
  EMPTY_HISTORY,
  findCommit,
  forgetPlacements,
  historyOf,
  whyAt,
  type History,
} from '../../hub/history.ts';

const web = { cluster: 'harbour', stack: { namespace: 'shop', name: 'web' } };
const api = { cluster: 'harbour', stack: { namespace: 'shop', name: 'api' } };

const decide = (id: typeof web, verdict: Decision['verdict'], text = ''): Decision => ({
  ...id,
  verdict,
  reasons: [{ code: verdict === 'run' ? 'InputChanged' : 'Unchanged', text }],
});

function planned(id: string, decisions: readonly Decision[], at = 1): PlannedCommit {
  const commit = { id, subject: `commit ${id}`, author: 'someone', time: at };
  return { repository: 'fleet', ref: 'refs/heads/main', commit, plannedAt: at, decisions, orders: 1 };
}

const after = (...passes: readonly PlannedCommit[]): History =>
  passes.reduce((history, pass) => addPlanned(history, pass), EMPTY_HISTORY);

test('a decision that repeats the standing one is not stored again, and still answers', () => {
  const history = after(
    planned('aaaaaaaa', [decide(web, 'run'), decide(api, 'unchanged', 'as ever')], 1),
    planned('bbbbbbbb', [decide(web, 'unchanged', 'of a'), decide(api, 'unchanged', 'as ever')], 2),
    planned('cccccccc', [decide(web, 'unchanged', 'of a'), decide(api, 'run')], 3),
  );
  assert.deepEqual(
    history.commits.map(({ commit, decisions }) => [commit.id, decisions.length]),
    [
      ['cccccccc', 1],
      ['bbbbbbbb', 1],
      ['aaaaaaaa', 2],
    ],
  );
  const why = whyAt(history, 'cccccccc', web);
  assert.equal(why?.here, false);
  assert.deepEqual([why?.decided?.commit, why?.decided?.decision.reasons[0]?.text], ['bbbbbbbb', 'of a']);
  assert.equal(whyAt(history, 'bbbbbbbb', api)?.decided?.decision.reasons[0]?.text, 'as ever');
  assert.deepEqual(history.commits[0]?.counts, { unchanged: 1, run: 1 });
});

test('a later pass at the same commit does not hide what the commit started', () => {
  const history = after(
    planned('aaaaaaaa', [decide(web, 'run'), decide(api, 'waiting')]),
    planned('aaaaaaaa', [decide(web, 'unchanged'), decide(api, 'run')], 2),
  );
  assert.equal(history.commits.length, 1);
  assert.equal(history.commits[0]?.orders, 2);
  assert.equal(history.commits[0]?.plannedAt, 1);
  assert.deepEqual(history.commits[0]?.counts, { run: 2 });
  assert.equal(whyAt(history, 'aaaaaaaa', web)?.decided?.decision.verdict, 'run');
  assert.equal(whyAt(history, 'aaaaaaaa', api)?.decided?.decision.verdict, 'run');
});

test('a commit that the source came back to is a new entry', () => {
  const history = after(planned('aaaaaaaa', []), planned('bbbbbbbb', []), planned('aaaaaaaa', [], 3));
  assert.deepEqual(
    history.commits.map((entry) => entry.commit.id),
    ['aaaaaaaa', 'bbbbbbbb', 'aaaaaaaa'],
  );
  assert.equal(findCommit(history, 'aaaaaaa')?.plannedAt, 3);
  const at = { repository: 'fleet', ref: 'refs/heads/main' };
  assert.equal(commitsBehind(history, { ...at, commit: 'bbbbbbbb' }), 1);
  assert.equal(commitsBehind(history, { ...at, commit: 'dddddddd' }), undefined);
});

test('short and unknown ids find nothing', () => {
  const history = after(planned('aaaaaaaabb', [decide(web, 'run')]));
  assert.equal(findCommit(history, 'aaaaaa'), undefined);
  assert.equal(whyAt(history, 'ffffffff', web), undefined);
  assert.equal(whyAt(history, 'aaaaaaaabb', api)?.decided, undefined);
});

test('the standing decision of a placement that is gone is forgotten', () => {
  const history = after(planned('aaaaaaaa', [decide(web, 'run'), decide(api, 'run')]));
  assert.deepEqual(
    [...forgetPlacements(history, new Set(['harbour/shop/web'])).standing.keys()],
    ['harbour/shop/api'],
  );
});

test('whatever is kept, every kept commit answers as if all were stored', () => {
  const verdict = fc.constantFrom(...VERDICTS);
  const passes = fc.array(fc.tuple(verdict, verdict, fc.constantFrom('x', 'y')), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(passes, fc.integer({ min: 1, max: 6 }), (sent, keep) => {
      let history = EMPTY_HISTORY;
      sent.forEach(([one, two, text], n) => {
        const decisions = [decide(web, one, text), decide(api, two, text)];
        history = addPlanned(history, planned(`commit-${n}`, decisions, n), { keep });
      });
      assert.ok(history.commits.length <= keep);
      for (const { commit } of history.commits) {
        const [one, two, text] = sent[Number(commit.id.slice(7))]!;
        for (const [id, expected] of [
          [web, one],
          [api, two],
        ] as const) {
          const found = whyAt(history, commit.id, id)?.decided?.decision;
          assert.deepEqual([found?.verdict, found?.reasons[0]?.text], [expected, text]);
        }
      }
      const again = historyOf(history.commits, history.base);
      assert.deepEqual(new Map([...again.standing].sort()), new Map([...history.standing].sort()));
    }),
  );
});
