import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentOf, previewArguments, RESERVED_ENV, upArguments } from '../../../agent/pulumi/command.ts';
import type { RunOrder } from '../../../agent/run.ts';
import { plainPolicy } from '../../harness/policy.ts';

const order = (
  inputs: Partial<RunOrder['inputs']> = {},
  policy: Partial<RunOrder['policy']> = {},
): RunOrder => ({
  inputs: { project: '.', pulumiStack: 'organization/web/dev', ...inputs },
  policy: { ...plainPolicy, timeoutMs: 1, parallel: 8, ...policy },
});

test('an update with nothing special', () => {
  assert.equal(
    upArguments(order(), '/events').join(' '),
    'up --yes --skip-preview --non-interactive --stack organization/web/dev --event-log /events --suppress-permalink=true --parallel 8',
  );
});

test('every wish of an order has its flag', () => {
  const all = order(
    { refresh: true, runProgram: true, targets: ['a', 'b'], excludes: ['c'], replace: ['d'] },
    { continueOnError: true, message: 'why' },
  );
  const expected = '--parallel 8 --refresh --run-program --target a --target b --exclude c --replace d';
  assert.ok(upArguments(all, '/e').join(' ').endsWith(`${expected} --continue-on-error --message why`));
  assert.ok(previewArguments(all, '/e').join(' ').endsWith(expected));
});

test('the environment holds what the order names and what the agent sets, which wins', () => {
  const env = environmentOf({
    order: order({ backend: { url: 's3://state' } }),
    places: { home: '/h', temp: '/t', pulumiHome: '/h/.pulumi' },
    path: ['/a', '/b'],
    resolved: { TOKEN: 'x', PULUMI_NODEJS_TRANSPILE_ONLY: 'false', HOME: '/root' },
    marks: { TOWLINE_RUN: 'r' },
  });
  assert.equal(env['TOKEN'], 'x');
  assert.equal(env['PATH'], '/a:/b');
  assert.equal(env['HOME'], '/h');
  assert.equal(env['PULUMI_BACKEND_URL'], 's3://state');
  assert.equal(env['PULUMI_NODEJS_TRANSPILE_ONLY'], 'false');
  assert.ok(
    RESERVED_ENV.has('HOME') &&
      RESERVED_ENV.has('TOWLINE_RUN') &&
      !RESERVED_ENV.has('PULUMI_CONFIG_PASSPHRASE'),
  );
});
