/** What every ledger must do; each implementation's test file calls it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Ledger, PlacementEntry } from '../../../agent/ledger/ledger.ts';
import { attemptOf, endingOf, endOf, entryOf, noChanges, orderOf, stack, successOf } from '../samples.ts';
import { ended } from '../../../agent/ledger/entry.ts';
import { WIRE_VERSION } from '../../../shared/wire.ts';

/** Opens the same ledger as before for the same test, as a later life of the agent does. */
export type OpenLedger = (context: TestContext) => Promise<() => Promise<Ledger>>;

const other = { namespace: 'apps', name: 'api.v2' };
const everything: PlacementEntry = {
  ...entryOf(),
  refused: { code: 'Invalid', text: 'unreadable' },
  stale: { have: 10, got: 9 },
  superseded: [{ gen: 8, commit: 'abc' }],
  running: attemptOf(orderOf()),
  last: endingOf({
    tail: ['a'],
    changes: noChanges,
    lock: { holder: 'me', since: 1 },
    pendingCreates: ['urn'],
  }),
  unclean: true,
  lastSuccess: successOf({ runRequest: 'r', backendUrl: 'file:///x' }),
  consumedRunRequest: 'r',
  encryptionSalt: 'v1:salt',
  acked: 3,
  records: ended(entryOf({ running: attemptOf(orderOf()) }), endOf(), { incarnation: 'i', toolchain: {} })
    .records,
  forgottenAt: 7,
};

export function ledgerContract(name: string, open: OpenLedger): void {
  test(`${name}: a new one has no epoch and no entries`, async (context) => {
    const ledger = await (await open(context))();
    assert.deepEqual(ledger.header, { epoch: 0, incarnation: 'cluster-1', reserved: 1 });
    assert.equal(ledger.entries.size, 0);
  });

  test(`${name}: every field of an entry and of the header comes back`, async (context) => {
    const reopen = await open(context);
    const first = await reopen();
    const clusterOrder = {
      v: WIRE_VERSION,
      gen: 3,
      term: 1,
      cluster: 'dev',
      policy: { maxConcurrentRuns: 2 },
    } as const;
    const header = { epoch: 5, incarnation: 'cluster-2', reserved: 9, clusterOrder };
    await first.update(stack, () => everything);
    await first.update(other, () => entryOf({ stack: other }));
    await first.updateHeader(() => header);
    await first.close();
    const second = await reopen();
    assert.deepEqual(second.entries.get('apps/web'), everything);
    assert.deepEqual([...second.entries.keys()].sort(), ['apps/api.v2', 'apps/web']);
    assert.deepEqual(second.header, header);
  });

  test(`${name}: an entry is seen when its update resolves, not before`, async (context) => {
    const ledger = await (await open(context))();
    const update = ledger.update(stack, () => entryOf());
    assert.equal(ledger.entries.get('apps/web'), undefined);
    assert.deepEqual(await update, entryOf());
    assert.deepEqual(ledger.entries.get('apps/web'), entryOf());
  });

  test(`${name}: changes of one placement happen one after the other`, async (context) => {
    const ledger = await (await open(context))();
    const add = (entry: PlacementEntry | undefined): PlacementEntry => ({
      ...(entry ?? entryOf({ gen: 0 })),
      gen: (entry?.gen ?? 0) + 1,
    });
    await Promise.all(Array.from({ length: 20 }, () => ledger.update(stack, add)));
    assert.equal(ledger.entries.get('apps/web')?.gen, 20);
  });

  test(`${name}: an equal value is no change`, async (context) => {
    const ledger = await (await open(context))();
    await ledger.update(stack, () => entryOf());
    const { revision } = ledger;
    await ledger.update(stack, () => structuredClone(entryOf()));
    await ledger.update(stack, (entry) => entry);
    assert.equal(ledger.revision, revision);
    await ledger.update(stack, () => entryOf({ gen: 11 }));
    assert.equal(ledger.revision, revision + 1);
  });

  test(`${name}: undefined removes an entry for good`, async (context) => {
    const reopen = await open(context);
    const first = await reopen();
    await first.update(stack, () => entryOf());
    await first.update(stack, () => entryOf({ gen: 11 }));
    await first.update(stack, () => undefined);
    assert.equal(first.entries.size, 0);
    await first.close();
    assert.equal((await reopen()).entries.size, 0);
  });

  test(`${name}: a change that throws changes nothing, and the next one goes on`, async (context) => {
    const ledger = await (await open(context))();
    await ledger.update(stack, () => entryOf());
    await assert.rejects(
      ledger.update(stack, () => {
        throw new Error('no');
      }),
    );
    assert.deepEqual(ledger.entries.get('apps/web'), entryOf());
    assert.equal((await ledger.update(stack, () => entryOf({ gen: 12 })))?.gen, 12);
  });

  test(`${name}: a closed ledger takes nothing`, async (context) => {
    const ledger = await (await open(context))();
    await ledger.close();
    await assert.rejects(
      ledger.update(stack, () => entryOf()),
      /closed/,
    );
  });
}
