import { test } from 'node:test';
import { agentOf, assertDone, assertHeld, begin, kill, putRight, settle, slowStack } from './slow.ts';

test('killed in a create: held for every commit, until the stack says clear or the state is put right', async (t) => {
  const sight = await begin(t);
  const { fleet } = sight;

  await t.test('hold, then clear', async () => {
    const first = await fleet.commit('slow', await slowStack(sight, 'held', { slow: 'create' }));
    await kill(sight, 'held', { begun: 'create' });
    await fleet.reader.atRest(first);
    await assertHeld(sight, 'held');
    await settle(sight, 'quick', await slowStack(sight, 'held'));
    await assertHeld(sight, 'held');
    await agentOf(sight).kill();
    await settle(sight, 'other', await slowStack(sight, 'held', { content: 'two' }));
    await assertHeld(sight, 'held');
    const cleared = await slowStack(sight, 'held', { content: 'two', pendingCreates: 'clear' });
    await settle(sight, 'clear', cleared);
    await assertDone(sight, 'held', { begun: 'create create', content: 'two' });
  });

  await t.test('hold, with the agent killed at the same moment, until the state is put right', async () => {
    const first = await fleet.commit('slow', await slowStack(sight, 'right', { slow: 'create' }));
    await kill(sight, 'right', { begun: 'create', agent: true });
    await fleet.reader.atRest(first);
    await assertHeld(sight, 'right');
    await putRight(sight, 'right');
    await settle(sight, 'again', await slowStack(sight, 'right'));
    await assertDone(sight, 'right', { begun: 'create create', content: 'one' });
  });

  await t.test('clear: done by itself', async () => {
    const slow = await slowStack(sight, 'cleared', { slow: 'create', pendingCreates: 'clear' });
    const commit = await fleet.commit('slow', slow);
    await kill(sight, 'cleared', { begun: 'create' });
    await fleet.reader.atRest(commit);
    await assertDone(sight, 'cleared', { begun: 'create create', content: 'one' });
  });
});
