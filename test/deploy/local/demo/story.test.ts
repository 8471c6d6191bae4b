import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expected, STEPS, type Step } from '../../../../deploy/local/demo/script.ts';
import {
  asScripted,
  closingLine,
  commitLines,
  titleLine,
  type Result,
} from '../../../../deploy/local/demo/story.ts';
import type { CommitFigures, CommitRow } from '../../../../deploy/local/standing.ts';

const figuresFor = (step: Step): CommitFigures => ({
  sha: 'abcdef0123',
  subject: step.subject,
  ...expected(step),
  seconds: 2.04,
});
const result: Result = { commits: STEPS.map(figuresFor), clusters: 2, lost: 0, repeated: 0 };

test('everything as scripted, and each way in which it is not', () => {
  assert.equal(asScripted(STEPS, result), true);
  const [first, ...rest] = result.commits;
  assert.ok(first !== undefined);
  const others: Partial<Result>[] = [
    { lost: 1 },
    { repeated: 1 },
    { commits: rest },
    { commits: [{ ...first, runs: 8 }, ...rest] },
  ];
  for (const other of others) assert.equal(asScripted(STEPS, { ...result, ...other }), false);
});

test('the last line says how it went', () => {
  assert.equal(
    closingLine(STEPS, result).text,
    '6 commits to 2 clusters, lost 0, repeated 0: everything came out as scripted',
  );
  assert.equal(closingLine(STEPS, { ...result, lost: 1 }).tone, 'bad');
});

test('a commit is told with its figures, and its reasons by stack', () => {
  const step = STEPS[4];
  assert.ok(step !== undefined);
  const decision = {
    namespace: 'port',
    name: 'berths',
    verdict: 'run',
    gen: 9,
    reasons: ['index.ts changed'],
  };
  const commit: CommitRow = {
    sha: 'abcdef0123',
    subject: step.subject,
    plannedAt: 0,
    unchanged: 5,
    decisions: [
      { ...decision, cluster: 'harbour' },
      { ...decision, cluster: 'quay' },
    ],
  };
  const told = { step, commit, figures: figuresFor(step) };
  assert.equal(titleLine(commit.sha, step, STEPS).text, '5/6 abcdef0 Shorten the name of a setting');
  assert.deepEqual(
    commitLines(told).map(({ text }) => text),
    [
      '  why port/berths on harbour, quay: index.ts changed',
      '  2 orders, 2 runs: 0 succeeded, 2 failed; 5 unchanged; 2.0 s',
      '',
    ],
  );
  const wrong = commitLines({ ...told, figures: { ...told.figures, runs: 3 } });
  assert.ok(wrong.some(({ text }) => text === '  not as scripted: runs should be 2, not 3'));
});
