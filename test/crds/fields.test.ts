/** Durations, times and names. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { duration, durationMs, labelName, moment, objectName } from '../../crds/fields.ts';

const DURATIONS: readonly (readonly [text: string, ms: number | undefined])[] = [
  ['500ms', 500],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['3650d', 315_360_000_000],
  ['3651d', undefined],
  ['99999999999999999d', undefined],
  ['0s', undefined],
  ['1', undefined],
  ['1.5h', undefined],
  ['-1s', undefined],
  ['1h 30m', undefined],
  ['', undefined],
];
for (const [text, ms] of DURATIONS) {
  test(`“${text}” ${ms === undefined ? 'is no duration' : `is ${ms} ms`}`, () => {
    assert.equal(duration.safeParse(text).success, ms !== undefined);
    if (ms !== undefined) assert.equal(durationMs(text), ms);
  });
}

const MOMENTS: readonly (readonly [text: string, fine: boolean])[] = [
  ['2026-12-01T00:00:00Z', true],
  ['2026-12-01T00:00Z', true],
  ['2026-12-01T00:00:00.5+02:00', true],
  ['2026-12-01', false],
  ['2026-12-01T00:00:00', false],
  ['2026-13-01T00:00:00Z', false],
  ['tomorrow', false],
];
for (const [text, fine] of MOMENTS) {
  test(`“${text}” ${fine ? 'is a' : 'is no'} moment`, () => {
    assert.equal(moment.safeParse(text).success, fine);
  });
}

const NAMES: readonly (readonly [text: string, object: boolean, label: boolean])[] = [
  ['web', true, true],
  ['web-1', true, true],
  ['web.eu', true, false],
  ['a'.repeat(64), true, false],
  ['a'.repeat(254), false, false],
  ['Web', false, false],
  ['-web', false, false],
  ['web_1', false, false],
  ['web..eu', false, false],
  ['*', false, false],
  ['', false, false],
];
for (const [text, object, label] of NAMES) {
  test(`“${text.slice(0, 20)}” (${text.length}) as a name`, () => {
    assert.equal(objectName.safeParse(text).success, object);
    assert.equal(labelName.safeParse(text).success, label);
  });
}
