import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../hub/catalog/catalog.ts';
import type { SourceState, SourceView } from '../../hub/git/source.ts';
import { makeNews, type News } from '../../hub/news.ts';
import { makeLog } from '../../shared/log.ts';

function listening(): { readonly news: News; readonly told: () => string[] } {
  let lines: string[] = [];
  const log = makeLog({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  });
  return {
    news: makeNews(log),
    told: () => {
      const texts = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
      lines = [];
      return texts.map(({ level, msg }) => `${level} ${msg}`);
    },
  };
}

const problem = (text: string, severity: Problem['severity'] = 'error'): Problem => ({
  ...{ severity, code: 'Invalid', text, origin: { repository: 'fleet', path: 'a.yaml', line: 3 } },
});

const source = (state: SourceState, message?: string): SourceView => ({
  ...{ name: 'fleet', url: 'u', ref: 'r', trust: 'fleet', manifests: [], since: 0, checkedAt: 0, state },
  ...(message === undefined ? {} : { message }),
});

test('a problem is told once when it appears and once when it is gone', () => {
  const { news, told } = listening();
  news.problems([problem('one'), problem('two', 'warning')]);
  assert.deepEqual(told(), [
    '50 fleet:a.yaml:3: error Invalid: one',
    '40 fleet:a.yaml:3: warning Invalid: two',
  ]);
  news.problems([problem('two', 'warning'), problem('one')]);
  assert.deepEqual(told(), []);
  news.problems([problem('two', 'warning')]);
  assert.deepEqual(told(), ['30 no longer: fleet:a.yaml:3: error Invalid: one']);
  news.problems([problem('one')]);
  assert.equal(told().length, 2);
});

test('a text that has the shape of a secret is told without it', () => {
  const { news, told } = listening();
  news.problems([problem(`bad value ghp_${'a1'.repeat(18)}`)]);
  assert.match(told()[0] ?? '', /bad value \[secret\]$/);
});

test('a repository is told of when its state is another one', () => {
  const { news, told } = listening();
  news.sources([source('Hydrating')]);
  news.sources([source('Ready')]);
  news.sources([source('Ready')]);
  news.sources([source('Unreachable', 'no route')]);
  news.sources([source('Unreachable', 'no route to host')]);
  news.sources([source('Ready')]);
  assert.deepEqual(told(), [
    '30 repository fleet is Ready',
    '50 repository fleet is Unreachable: no route',
    '30 repository fleet is Ready',
  ]);
});
