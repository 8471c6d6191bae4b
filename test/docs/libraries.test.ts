import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { codesIn, readPage } from './page.ts';

const page = readPage('adr/0010-libraries.md');

for (const name of Object.keys(manifest.dependencies)) {
  test(`the use of ${name} is recorded`, () => {
    const scope = name.startsWith('@nats-io/') ? '@nats-io' : name;
    const firstCells = page
      .split('\n')
      .flatMap((line) => /^\| ([^|]+?) *\|/.exec(line)?.[1]?.split(' and ') ?? []);
    assert.ok(firstCells.includes(scope) || codesIn(page).includes(name));
  });
}
