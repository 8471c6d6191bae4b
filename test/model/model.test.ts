import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  agentPass,
  deliver,
  hubPass,
  isAtRest,
  makeWorld,
  resync,
  type Started,
  type World,
} from './fleet.ts';

/** One thing that happens to a fleet. */
type Happening = { readonly name: string; readonly act: (world: World) => void };

const happening = (name: string, act: (world: World) => void): Happening => ({ name, act });
const which = fc.constantFrom<0 | 1>(0, 1);

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  fc
    .constantFrom('one', 'two', 'three')
    .map((content) => happening(`commit ${content}`, (world) => void (world.wanted = content))),
  fc.boolean().map((on) => happening(on ? 'suspend' : 'resume', (world) => void (world.suspended = on))),
  fc
    .tuple(which, fc.boolean())
    .map(([hub, fresh]) =>
      happening(`hub ${hub} passes${fresh ? ' after a look' : ''}`, (world) =>
        hubPass(world, hub, { fresh }),
      ),
    ),
  fc.constant(happening('the newest order arrives', (world) => deliver(world, world.stream.order))),
  fc.nat(20).map((n) => happening(`order ${n} of ever arrives`, (world) => deliver(world, world.wire[n]))),
  fc
    .constantFrom<Started['result']>('succeeded', 'failed', 'lost')
    .map((result) => happening(`the agent passes: ${result}`, (world) => agentPass(world, result))),
  fc.constant(happening('the broker is copied', (world) => void world.copies.push({ ...world.stream }))),
  fc.nat(3).map((n) => happening(`the broker is restored from copy ${n}`, (world) => restore(world, n))),
  fc.constant(happening('the broker is wiped', wipe)),
  fc
    .integer({ min: -60_000, max: 60_000 })
    .map((ms) => happening(`the clock goes by ${ms} ms`, (world) => void (world.now += ms))),
);

/** Hubs notice that the broker was away: they look again. */
function reconnect(world: World): void {
  for (const hub of world.hubs) hub.read = undefined;
}

function restore(world: World, n: number): void {
  const copy = world.copies[n];
  if (copy === undefined) return;
  world.stream = { ...copy };
  reconnect(world);
}

function wipe(world: World): void {
  world.stream = { sequence: 0, term: 0, order: undefined };
  reconnect(world);
}

/** What every fleet does by itself when nothing more happens. */
function settle(world: World): void {
  world.suspended = false;
  for (let round = 0; round < 4; round += 1) {
    hubPass(world, 1, { fresh: round === 0 });
    deliver(world, world.stream.order);
    resync(world, 1);
    deliver(world, world.stream.order);
    agentPass(world, 'succeeded');
  }
}

/** A run of an older order after one of a newer order. */
const olderOverNewer = (runs: readonly Started[]): boolean =>
  runs.some((run, n) => n > 0 && run.gen < runs[n - 1]!.gen);

/** A run of inputs whose success was known, with nothing in between. */
const repeated = (runs: readonly Started[]): boolean =>
  runs.some((run, n) => n > 0 && runs[n - 1]!.result === 'succeeded' && runs[n - 1]!.digest === run.digest);

/** More than one attempt of a generation, unless the one before was cut off; and at most two of those. */
function startedTooOften(runs: readonly Started[]): boolean {
  return [...Map.groupBy(runs, (run) => run.gen).values()].some(
    (attempts) => attempts.length > 2 || attempts.slice(0, -1).some((attempt) => attempt.result !== 'lost'),
  );
}

const histories = fc.array(happenings, { maxLength: 60 });

test('whatever happened, a fleet that is left alone comes to rest at the newest commit', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const world = makeWorld();
      for (const { act } of history) act(world);
      settle(world);
      assert.ok(isAtRest(world), JSON.stringify(world.runs));
    }),
    { numRuns: 2_000 },
  );
});

test('nothing older runs over something newer, and no success is repeated', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const world = makeWorld();
      for (const { act } of history) act(world);
      settle(world);
      assert.ok(!olderOverNewer(world.runs), JSON.stringify(world.runs));
      assert.ok(!repeated(world.runs), JSON.stringify(world.runs));
      assert.ok(!startedTooOften(world.runs), JSON.stringify(world.runs));
    }),
    { numRuns: 2_000 },
  );
});

test('a fleet at rest stays at rest', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const world = makeWorld();
      for (const { act } of history) act(world);
      settle(world);
      const before = { runs: world.runs.length, orders: world.wire.length };
      settle(world);
      assert.deepEqual({ runs: world.runs.length, orders: world.wire.length }, before);
    }),
    { numRuns: 500 },
  );
});
