import assert from 'node:assert/strict';
import test from 'node:test';
import { missed, type Figures } from './bars.ts';
import { jsonOf, roundedFigures, textOf } from './table.ts';

const good: Figures = {
  commitToStartMs: 120.4,
  ratioToBare: 1.15,
  cliProcesses: 1,
  idleCpuPercent: 0.5,
  idleProcesses: 0,
  agentRssMiB: 70.04,
  hubRssMiB: 120,
  runsForOneTouched: 1,
};

test('JSON holds the figures, rounded, and nothing else', () =>
  assert.equal(
    jsonOf(good),
    '{"commitToStartMs":120,"ratioToBare":1.15,"cliProcesses":1,"idleCpuPercent":0.5,"idleProcesses":0,' +
      '"agentRssMiB":70,"hubRssMiB":120,"runsForOneTouched":1}',
  ));

test('a figure at its bar holds, one above it and one that is no number do not', () => {
  assert.deepEqual(missed(good), []);
  assert.deepEqual(missed({ ...good, ratioToBare: 1.151, idleProcesses: 1, hubRssMiB: Number.NaN }), [
    'ratioToBare',
    'idleProcesses',
    'hubRssMiB',
  ]);
  assert.deepEqual(missed(roundedFigures({ ...good, ratioToBare: 1.1504 })), []);
});

test('the text shows each measurement and each bar', () => {
  const summary = { count: 20, median: 118, min: 99.6, max: 240 };
  const text = textOf([{ what: 'YAML: seen', unit: 'ms', digits: 0, summary }], { ...good, agentRssMiB: 90 });
  assert.match(text, /^YAML: seen +118 +100 +240 +20 +ms$/m);
  assert.match(text, /at most 80 +MiB +MISSED +agentRssMiB$/m);
  assert.match(text, /at most 1.15 +× +ok +ratioToBare$/m);
});
