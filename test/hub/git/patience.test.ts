import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../../shared/limits.ts';
import { quietUntil } from '../../../hub/git/patience.ts';

const NOW = Date.UTC(2026, 10, 30);
const clock = (seconds: number): string => `${NOW / 1_000 + seconds}`;

const rows: readonly [string, Record<string, string>, number | undefined][] = [
  ['nothing', {}, undefined],
  ['seconds to wait', { 'retry-after': '30' }, 30_000],
  ['a date to wait for', { 'retry-after': new Date(NOW + 90_000).toUTCString() }, 90_000],
  ['a date that is over', { 'retry-after': new Date(NOW - 90_000).toUTCString() }, undefined],
  ['GitHub, some left', { 'x-ratelimit-remaining': '12', 'x-ratelimit-reset': clock(60) }, undefined],
  ['GitHub, none left', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': clock(60) }, 60_000],
  ['GitLab, none left', { 'ratelimit-remaining': '0', 'ratelimit-reset': clock(45) }, 45_000],
  ['the draft, none left', { 'ratelimit-remaining': '0', 'ratelimit-reset': '20' }, 20_000],
  ['the newer draft, none left', { ratelimit: '"default";r=0;t=15' }, 15_000],
  ['the newer draft, one of two', { ratelimit: '"burst";r=5;t=1, "day";r=0;t=40' }, 40_000],
  ['the newer draft, some left', { ratelimit: '"default";r=3;t=15' }, undefined],
  ['the longest counts', { 'retry-after': '5', ratelimit: '"default";r=0;t=15' }, 15_000],
  ['no remaining', { 'x-ratelimit-reset': clock(60) }, undefined],
  ['no reset', { 'x-ratelimit-remaining': '0' }, undefined],
  ['no numbers', { 'x-ratelimit-remaining': 'none', 'x-ratelimit-reset': 'soon' }, undefined],
  ['empty', { 'x-ratelimit-remaining': '', 'x-ratelimit-reset': '' }, undefined],
  ['for ever', { 'retry-after': '99999999' }, limits.retryAfterMaxMs],
];

for (const [name, headers, waitMs] of rows) {
  test(`what a host asks for: ${name}`, () => {
    assert.equal(quietUntil(headers, NOW), waitMs === undefined ? undefined : NOW + waitMs);
  });
}
