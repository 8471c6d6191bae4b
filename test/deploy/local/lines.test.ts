import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liveLines, newsOf } from '../../../deploy/local/lines.ts';
import { makeScreen } from '../../../deploy/local/screen.ts';
import type { PlacementRow } from '../../../deploy/local/standing.ts';

const wanted = { gen: 5, digest: 'v1:b', commit: 'c' };
const row = (change: Partial<PlacementRow>): PlacementRow => ({
  cluster: 'quay',
  namespace: 'port',
  name: 'berths',
  phase: 'Succeeded',
  agent: 'Online',
  reason: '',
  standing: 'planned',
  wanted,
  ...change,
});
const running = row({ phase: 'Running', reported: { gen: 5, digest: 'v1:b', startedAt: 1_000 } });
const done = row({
  reported: {
    gen: 5,
    digest: 'v1:b',
    startedAt: 1_000,
    finishedAt: 3_500,
    changes: { create: 2, update: 0, delete: 0, replace: 0, same: 1 },
  },
});
const failed = row({
  phase: 'Failed',
  reason: 'the program failed\nmore',
  reported: { gen: 5, digest: 'v1:b' },
});

/** What is told of `after` once `before` was told. */
const texts = (before: PlacementRow, after: PlacementRow, shown = false): string[] =>
  newsOf(newsOf(new Map(), [before], false).told, [after], shown).lines.map(
    ({ text, tone }) => `${tone}: ${text}`,
  );

test('a line for each change, with what it changed and how long it took', () => {
  assert.deepEqual(texts(row({}), running), ['plain:   quay  port/berths  Running']);
  assert.deepEqual(texts(running, done), ['good:   quay  port/berths  Succeeded  +2 ~0 -0 =1  2.5 s']);
  assert.deepEqual(texts(running, failed), ['bad:   quay  port/berths  Failed     the program failed']);
  assert.deepEqual(texts(done, done), []);
  assert.deepEqual(texts(done, { ...done, standing: 'refused', reason: 'fleet.yaml:3: no such cluster' }), [
    'bad:   quay  port/berths  Refused    fleet.yaml:3: no such cluster',
  ]);
});

test('what a silent agent said last is told as that', () => {
  assert.deepEqual(texts(done, { ...done, agent: 'Offline' }), [
    'bad:   quay  port/berths  Offline    last: Succeeded',
  ]);
  assert.equal(texts({ ...done, agent: 'Offline' }, done).length, 1);
  const unheard = { ...running, agent: 'Unheard' as const };
  assert.deepEqual(texts(running, unheard), []);
  const { told } = newsOf(newsOf(new Map(), [done], false).told, [unheard], false);
  assert.deepEqual(newsOf(told, [done], false).lines, []);
  assert.equal(texts(unheard, done).length, 1);
});

test('what comes before a start is not told', () => {
  const preparing = row({ phase: 'Preparing', reported: { gen: 5, digest: 'v1:b' } });
  assert.deepEqual(texts(row({}), preparing), []);
});

test('lines stand in columns', () => {
  const rows = [done, { ...done, cluster: 'harbour', name: 'x' }];
  assert.deepEqual(
    newsOf(new Map(), rows, false).lines.map(({ text }) => text.slice(0, 31)),
    ['  quay     port/berths  Succeeded', '  harbour  port/x       Succeeded'].map((text) =>
      text.slice(0, 31),
    ),
  );
});

test('with a block below, only what came to rest is told', () => {
  assert.deepEqual(texts(row({}), running, true), []);
  assert.equal(texts(running, done, true).length, 1);
});

test('the block holds what is at work, with its age', () => {
  assert.deepEqual(
    liveLines([running, done], 4_200).map(({ text }) => text),
    ['  quay  port/berths  Running    3.2 s'],
  );
});

test('a screen without a terminal shows no block and no escape', () => {
  const seen: string[] = [];
  const screen = makeScreen({ write: (text) => seen.push(text) }, {});
  screen.show([{ text: 'at work', tone: 'plain' }]);
  screen.say({ text: 'done', tone: 'good' }, 'more');
  assert.deepEqual(seen, ['done\nmore\n']);
});

test('on a terminal the block is drawn anew below what is said', () => {
  const seen: string[] = [];
  const screen = makeScreen({ write: (text) => seen.push(text), isTTY: true, columns: 8 }, { NO_COLOR: '1' });
  screen.show([{ text: 'a long line', tone: 'plain' }]);
  screen.say({ text: 'done', tone: 'good' });
  screen.show([{ text: 'a long line', tone: 'plain' }]);
  screen.show([]);
  assert.deepEqual(seen, ['\x1b[0Ja long \n', '\x1b[1F\x1b[0Jdone\na long \n', '\x1b[1F\x1b[0J']);
});

test('a block that is higher than the terminal is cut', () => {
  const seen: string[] = [];
  const screen = makeScreen({ write: (text) => seen.push(text), isTTY: true, rows: 5 }, {});
  screen.show(['a', 'b', 'c', 'd'].map((text) => ({ text, tone: 'plain' as const })));
  assert.deepEqual(seen, ['\x1b[0Ja\nb\n  and 2 more at work\n']);
});
