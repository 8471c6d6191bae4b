import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { highestTag, isRange } from '../../../hub/git/tags.ts';

const choose = (range: string, ...tags: readonly string[]): string | undefined =>
  highestTag(
    tags.map((tag) => ({ ref: `refs/tags/${tag}`, id: tag })),
    range,
  )?.id;

const rows: readonly [string, string, readonly string[], string | undefined][] = [
  ['by number, not by letter', '^1', ['v1.9.0', 'v1.10.0'], 'v1.10.0'],
  ['with and without v', '1.x', ['1.1.0', 'v1.2.0'], 'v1.2.0'],
  ['below the next one', '~1.2', ['v1.2.9', 'v1.3.0', 'v2.0.0'], 'v1.2.9'],
  ['no version before its release', '>=1', ['v1.0.0', 'v2.0.0-rc.1'], 'v1.0.0'],
  ['one that the range names', '>=2.0.0-0', ['v1.0.0', 'v2.0.0-rc.1', 'v2.0.0-rc.2'], 'v2.0.0-rc.2'],
  ['not one of another release', '>=2.0.0-0', ['v2.0.0', 'v2.1.0-rc.1'], 'v2.0.0'],
  ['several ranges', '1.0.x || >=3', ['v1.0.7', 'v2.0.0'], 'v1.0.7'],
  ['what is no version is none', '*', ['nightly', 'release-1.0.0', '1.0', 'v1', 'web/v9.0.0'], undefined],
  ['none in the range', '^3', ['v1.0.0'], undefined],
  ['two names of one version', '^1', ['v1.0.0', '1.0.0'], '1.0.0'],
];

for (const [name, range, tags, expected] of rows) {
  test(`the tag that a range means: ${name}`, () => {
    assert.equal(choose(range, ...tags), expected);
    assert.equal(choose(range, ...[...tags].reverse()), expected, 'in any order');
  });
}

test('other refs are no versions', () => {
  assert.equal(highestTag([{ ref: 'refs/heads/v1.0.0', id: 'x' }], '*'), undefined);
});

test('nothing in the range is higher than what is chosen', () => {
  const part = fc.nat({ max: 3 });
  const version = fc.tuple(part, part, part).map((parts) => parts.join('.'));
  fc.assert(
    fc.property(fc.array(version), version, (tags, least) => {
      const number = (tag: string): number => tag.split('.').reduce((sum, one) => sum * 10 + Number(one), 0);
      const fitting = tags
        .filter((tag) => number(tag) >= number(least))
        .sort((a, b) => number(a) - number(b));
      assert.equal(choose(`>=${least}`, ...tags), fitting.at(-1));
    }),
  );
});

test('ranges', () => {
  for (const text of ['^1.2', '*', '>=1 <3', '1.2.3']) assert.ok(isRange(text), text);
  for (const text of ['', ' ', 'main', 'v', '^^1']) assert.ok(!isRange(text), text);
});
