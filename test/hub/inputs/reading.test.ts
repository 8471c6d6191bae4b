/** Questions to a tree. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Question } from '../../../hub/inputs/view.ts';
import { contentsOf, readingOf } from './tree.ts';

it('an answer that waits for content is made once, however many ask, and again when the content is there', () => {
  const files = { x: 'content' };
  const reading = readingOf(files);
  let made = 0;
  const question: Question<string> = {
    key: 'x',
    answer: (view) => {
      made += 1;
      return view.content('x')?.toString('utf8') ?? '';
    },
  };
  for (let n = 0; n < 3; n++) {
    const look = reading.look();
    assert.equal(look.fact(question), '');
    assert.equal(look.incomplete, true);
  }
  assert.equal(made, 1);
  for (const id of reading.takeNeeds()) reading.give(id, contentsOf(files).get(id) ?? new Error(id));
  for (let n = 0; n < 3; n++) {
    const look = reading.look();
    assert.equal(look.fact(question), 'content');
    assert.equal(look.incomplete, false);
  }
  assert.equal(made, 2);
});
