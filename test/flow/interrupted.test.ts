import { test } from 'node:test';
import { assertDone, begin, kill, settle, slowStack } from './slow.ts';

test('killed in an update, also together with the agent: its lock is cleared, it is done again, and there is one object', async (t) => {
  const sight = await begin(t);
  for (const { name, agent } of [{ name: 'alone' }, { name: 'together', agent: true as const }])
    await t.test(name, async () => {
      await settle(sight, `make ${name}`, await slowStack(sight, name));
      const slow = await slowStack(sight, name, { slow: 'update', content: 'two' });
      const commit = await sight.fleet.commit(`change ${name}`, slow);
      await kill(sight, name, { begun: 'create update', ...(agent === undefined ? {} : { agent }) });
      await sight.fleet.reader.atRest(commit);
      await assertDone(sight, name, { begun: 'create update update', content: 'two' });
    });
});
