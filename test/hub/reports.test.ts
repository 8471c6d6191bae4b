import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Reports } from '../../hub/reports.ts';
import { makeOrder, makeReport, makeWanted } from './make.ts';

const change = fc.record({
  cluster: fc.constantFrom('a', 'b', 'a.b'),
  name: fc.constantFrom('x', 'y'),
  seq: fc.nat({ max: 9 }),
});

test('it is a map, and a copy leaves the one before as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 6 }), (batches) => {
      let reports = Reports.of(new Map());
      const plain = new Map<string, ReturnType<typeof makeReport>>();
      for (const batch of batches) {
        const newer = new Map(
          batch.map(({ cluster, name, seq }) => [
            `${cluster}/shop/${name}`,
            makeReport(makeOrder(makeWanted({ cluster, name })), { seq }),
          ]),
        );
        const before = new Map(reports);
        const next = reports.with(newer);
        assert.deepEqual(new Map(reports), before);
        for (const [key, report] of newer) plain.set(key, report);
        assert.deepEqual(new Map(next), plain);
        assert.equal(next.size, plain.size);
        assert.deepEqual([...next.keys()].sort(), [...plain.keys()].sort());
        assert.equal([...next.values()].length, plain.size);
        for (const [key, report] of plain) assert.equal(next.get(key), report);
        reports = next;
      }
      assert.deepEqual(
        new Map(reports.without('a')),
        new Map([...plain].filter(([key]) => !key.startsWith('a/'))),
      );
      assert.equal(Reports.of(reports), reports);
      assert.equal(reports.has('none/of/these'), false);
    }),
  );
});
