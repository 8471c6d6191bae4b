import assert from 'node:assert/strict';
import test from 'node:test';
import { parseSource } from './source.ts';

test('every way to refer to a file is seen', () => {
  const { imports } = parseSource(
    'hub/git/a.ts',
    `import { x } from '../b.ts';
import type { Y } from './c.ts';
import { type Z } from './d.ts';
import { type P, q } from './e.ts';
import './f.ts';
export { r } from './g.ts';
export type { S } from './h.ts';
const t = await import('./i.ts');
type U = import('./j.ts').U;
new URL('./k.mjs', import.meta.url);
import fs from 'node:fs';
`,
  );
  assert.deepEqual(
    imports.map(({ line, target, typeOnly, ours }) => [line, target, typeOnly, ours]),
    [
      [1, 'hub/b.ts', false, true],
      [2, 'hub/git/c.ts', true, true],
      [3, 'hub/git/d.ts', true, true],
      [4, 'hub/git/e.ts', false, true],
      [5, 'hub/git/f.ts', false, true],
      [6, 'hub/git/g.ts', false, true],
      [7, 'hub/git/h.ts', true, true],
      [8, 'hub/git/i.ts', false, true],
      [9, 'hub/git/j.ts', true, true],
      [10, 'hub/git/k.mjs', false, true],
      [11, 'node:fs', false, false],
    ],
  );
});

test('a computed address and text that looks like an import are not references', () => {
  const text = 'await import(new URL(path, import.meta.url).href);\nconst s = "import x from \'./x.ts\'";';
  assert.deepEqual(parseSource('a.ts', text).imports, []);
});
