import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeSorter, pageOf, SORTS, type PageWish } from '../../../hub/api/paging.ts';
import type { Liveness } from '../../../hub/liveness.ts';
import type { Row, View } from '../../../hub/view.ts';
import type { Phase } from '../../../shared/outcome.ts';

const online = (cluster: string): Liveness => ({
  state: cluster === 'silent' ? 'Offline' : 'Online',
  since: 1,
});

function viewOf(parts: readonly Partial<Row>[]): View {
  const rows = parts
    .map((part, n): Row => {
      const cluster = part.cluster ?? 'harbour';
      const name = `stack-${n}`;
      const stack = { namespace: 'shop', name };
      const key = `${cluster}/shop/${name}`;
      return { key, cluster, stack, labels: {}, phase: 'Succeeded', phaseSince: 0, search: key, ...part };
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return { rows, index: new Map(rows.map((row, at) => [row.key, at])) };
}

const anyRow = fc.record({
  phase: fc.constantFrom<Phase>('Succeeded', 'Failed', 'Unknown'),
  phaseSince: fc.integer({ min: 0, max: 5 }),
  cluster: fc.constantFrom('harbour', 'silent'),
  labels: fc.constantFrom({}, { tier: 'prod' }, { tier: 'test' }),
});

const anyWish = fc.record(
  {
    sort: fc.constantFrom(...SORTS),
    phase: fc.constantFrom(['Succeeded' as const], ['Offline' as const, 'Failed' as const]),
    cluster: fc.constant(['silent']),
    label: fc.constantFrom(['tier'], ['tier=prod']),
  },
  { requiredKeys: ['sort'] },
);

function allPages(
  view: View,
  wish: Omit<PageWish, 'cursor'>,
): { keys: string[]; pages: number; total: number } {
  const sorter = makeSorter();
  const keys: string[] = [];
  let pages = 0;
  let cursor: string | null = null;
  let total = 0;
  do {
    const page = pageOf(
      sorter.sorted(view, wish.sort),
      { ...wish, ...(cursor === null ? {} : { cursor }) },
      online,
    );
    assert.ok(page !== undefined);
    keys.push(...page.rows.map(({ key }) => key));
    ({ next: cursor, total } = page);
    pages += 1;
    assert.ok(pages <= view.rows.length + 1, 'the pages never end');
  } while (cursor !== null);
  return { keys, pages, total };
}

test('all pages together are the whole list, whatever their size', () => {
  fc.assert(
    fc.property(
      fc.array(anyRow, { maxLength: 30 }),
      anyWish,
      fc.integer({ min: 1, max: 7 }),
      (rows, wish, limit) => {
        const view = viewOf(rows);
        const whole = allPages(view, { ...wish, limit: 1_000 });
        const paged = allPages(view, { ...wish, limit });
        assert.deepEqual(paged.keys, whole.keys);
        assert.equal(whole.pages, 1);
        assert.equal(paged.total, whole.keys.length);
        assert.equal(new Set(whole.keys).size, whole.keys.length);
      },
    ),
  );
});

test('a dash turns the order round, and equal values are ordered by name', () => {
  const view = viewOf([{ phaseSince: 2 }, { phaseSince: 1 }, { phaseSince: 2 }]);
  const names = (sort: PageWish['sort']): string[] =>
    allPages(view, { sort, limit: 2 }).keys.map((key) => key.slice(-1));
  assert.deepEqual(names('since'), ['1', '0', '2']);
  assert.deepEqual(names('-since'), ['2', '0', '1']);
});

test('a sorter that follows a view through changes sorts like a new one', () => {
  const changes = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.integer({ min: 0, max: 5 })), { maxLength: 8 });
  fc.assert(
    fc.property(changes, fc.constantFrom(...SORTS), (sent, sort) => {
      const following = makeSorter();
      let view = viewOf(Array.from({ length: 10 }, () => ({})));
      for (const [at, phaseSince] of sent) {
        view = { ...view, rows: view.rows.with(at, { ...view.rows[at]!, phaseSince }) };
        assert.deepEqual(following.sorted(view, sort), makeSorter().sorted(view, sort));
      }
      const other = viewOf([{ phaseSince: 3 }]);
      assert.deepEqual(following.sorted(other, sort), other.rows);
    }),
  );
});

test('a row that goes away between two pages shifts nothing', () => {
  const view = viewOf([{}, {}, {}, {}]);
  const first = pageOf(view.rows, { sort: 'name', limit: 2 }, online);
  const shorter = { ...view, rows: view.rows.slice(1) };
  const second = pageOf(shorter.rows, { sort: 'name', limit: 2, cursor: first?.next ?? '' }, online);
  assert.deepEqual(
    second?.rows.map(({ stack }) => stack.name),
    ['stack-2', 'stack-3'],
  );
});

const filters: readonly { filter: Partial<PageWish>; left: readonly string[] }[] = [
  { filter: { cluster: ['silent'] }, left: ['c'] },
  { filter: { namespace: ['other'] }, left: [] },
  { filter: { stack: ['stack-0', 'stack-1'] }, left: ['a', 'b'] },
  { filter: { phase: ['Offline'] }, left: ['c'] },
  { filter: { phase: ['Succeeded'] }, left: ['a'] },
  { filter: { label: ['tier=prod', 'team'] }, left: ['a'] },
  { filter: { label: ['tier'] }, left: ['a', 'b'] },
  { filter: { q: 'Needle' }, left: ['b'] },
];
for (const { filter, left } of filters) {
  test(`filter ${JSON.stringify(filter)}`, () => {
    const view = viewOf([
      { search: 'a', labels: { tier: 'prod', team: 'x' } },
      { search: 'b with a needle', labels: { tier: 'test' }, phase: 'Failed' },
      { search: 'c', cluster: 'silent' },
    ]);
    const page = pageOf(view.rows, { sort: 'name', limit: 10, ...filter }, online);
    assert.deepEqual(
      page?.rows.map(({ search }) => search[0]),
      left,
    );
  });
}

test('a cursor of another list is refused', () => {
  const view = viewOf([{}, {}]);
  const { next } = pageOf(view.rows, { sort: 'name', limit: 1 }, online)!;
  assert.equal(pageOf(view.rows, { sort: 'since', limit: 1, cursor: next ?? '' }, online), undefined);
});
