import assert from 'node:assert/strict';
import test from 'node:test';
import { broker, cycles, layers, stages, unreachable } from './imports.ts';
import { placesOf, plant } from './plant.ts';

const importing = (path: string): string => `import { x } from '${path}';`;
const importingType = (path: string): string => `import type { X } from '${path}';`;

test('layers: hub and agent never see each other, and nobody looks up', () => {
  const found = layers(
    plant({
      'hub/a.ts': importing('../agent/b.ts'),
      'agent/b.ts': importingType('../hub/a.ts'),
      'deploy/local/c.ts': importing('../../hub/a.ts'),
      'shared/d.ts': importing('../crds/e.ts'),
      'crds/e.ts': importing('../shared/d.ts'),
    }),
  );
  assert.deepEqual(placesOf(found), [
    'hub/a.ts:1',
    'agent/b.ts:1',
    'deploy/local/c.ts:1',
    'shared/d.ts:1',
    'crds/e.ts:1',
  ]);
});

test('layers: what lies below, the own part, packages and tests are free', () => {
  const files = {
    'hub/cli/a.ts':
      importing('../poll.ts') + importing('../../shared/d.ts') + importing('../../package.json'),
    'agent/b.ts': importing('../crds/e.ts') + importing('zod'),
    'test/c.test.ts': importing('../hub/a.ts') + importing('../agent/b.ts'),
  };
  assert.deepEqual(layers(plant(files)), []);
});

test('broker: only one file imports the NATS client', () => {
  const files = {
    'hub/a.ts': importing('nats'),
    'agent/b.ts': importing('@nats-io/jetstream'),
    'shared/nats.ts': importing('nats'),
    'hub/c.ts': importing('../shared/nats.ts'),
  };
  assert.deepEqual(placesOf(broker(plant(files))), ['hub/a.ts:1', 'agent/b.ts:1']);
});

test('stages: a value of another stage is found, its types and what lies within a stage are free', () => {
  const files = {
    'hub/plan.ts': importing('./detect.ts'),
    'hub/resolve/place.ts': importing('../catalog/read.ts') + importing('./merge.ts'),
    'hub/detect.ts': importingType('./plan.ts') + importing('./placement.ts'),
    'hub/poll.ts': importing('./plan.ts') + importing('./detect.ts'),
  };
  assert.deepEqual(placesOf(stages(plant(files))), ['hub/plan.ts:1', 'hub/resolve/place.ts:1']);
});

test('cycles: a ring is named once, with all its files, also when types close it', () => {
  const files = {
    'hub/a.ts': importing('./b.ts'),
    'hub/b.ts': importing('./c.ts') + importing('./d.ts'),
    'hub/c.ts': importingType('./a.ts'),
    'hub/d.ts': importing('node:fs'),
  };
  assert.deepEqual(
    cycles(plant(files)).map(({ message }) => message),
    ['ring of imports: hub/a.ts → hub/b.ts → hub/c.ts → hub/a.ts'],
  );
  assert.deepEqual(cycles(plant({ ...files, 'hub/c.ts': '' })), []);
});

test('unreachable: files that no root leads to are found', () => {
  const files = {
    'hub/main.ts': importing('./a.ts'),
    'hub/a.ts': importingType('./b.ts'),
    'hub/b.ts': '',
    'hub/dead.ts': importing('./a.ts'),
  };
  assert.deepEqual(placesOf(unreachable(plant(files), ['hub/main.ts'])), ['hub/dead.ts']);
});
