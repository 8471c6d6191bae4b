import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeast } from '../../../agent/pulumi/version.ts';

test('versions are compared by number', () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ['3.244.0', true],
    ['3.244.1', true],
    ['3.1000.0', true],
    ['4.0.0', true],
    ['3.274.1-dev+abc', true],
    ['3.243.9', false],
    ['3.99.0', false],
    ['', false],
    ['dev', false],
  ];
  for (const [version, expected] of rows) assert.equal(isAtLeast(version, '3.244.0'), expected, version);
});
