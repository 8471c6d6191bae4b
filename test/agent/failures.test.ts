import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeRun, type Ending } from '../../agent/failures.ts';
import type { Outcome } from '../../agent/pulumi/events.ts';

const nothing: Outcome = {
  changes: { create: 0, update: 0, delete: 0, replace: 0, same: 3 },
  resources: [],
  planned: [],
  errors: [],
  failedResources: 0,
};
const ended = (result: string): Partial<Outcome> => ({ summary: { result } });
const error = (text: string, urn?: string): Partial<Outcome> => ({
  ...ended('failed'),
  errors: [{ text, ...(urn === undefined ? {} : { urn }) }],
});
const URN = 'urn:pulumi:dev::web::aws:s3/bucket:Bucket::assets';

type Row = readonly [
  name: string,
  ending: Partial<Omit<Ending, 'outcome'>>,
  outcome: Partial<Outcome>,
  expected: string,
];
const rows: readonly Row[] = [
  ['code 0 and a good summary', { exit: 0 }, ended('succeeded'), 'succeeded'],
  ['code 0 and no summary', { exit: 0 }, {}, 'Lost'],
  ['code 0 and a bad summary', { exit: 0 }, ended('failed'), 'Lost'],
  ['a good summary and no code', {}, ended('succeeded'), 'Lost'],
  [
    'a good end although a stop was asked for',
    { exit: 0, stopped: { cause: 'cancelled' } },
    ended('succeeded'),
    'succeeded',
  ],
  ['killed', { exit: 137 }, {}, 'Lost'],
  ['hung up', { exit: 129 }, {}, 'Lost'],
  ['nobody could write the code down', {}, {}, 'Lost'],
  [
    'SIGINT by us: code 1',
    { exit: 1, stopped: { cause: 'cancelled' } },
    error('update canceled'),
    'Cancelled',
  ],
  ['the second SIGINT by us', { exit: 8, stopped: { cause: 'timeout' } }, ended('canceled'), 'Timeout'],
  ['killed by us', { exit: 137, stopped: { cause: 'timeout' } }, {}, 'Timeout'],
  ['stopped by somebody else, once', { exit: 1 }, error('update canceled'), 'Lost'],
  ['stopped by somebody else, twice', { exit: 8 }, ended('canceled'), 'Lost'],
  [
    'a provider that speaks of a cancelled update',
    { exit: 1 },
    { ...error('ResourceFailure: Stack update cancelled by somebody', URN), failedResources: 1 },
    'Provider',
  ],
  ['wrong invocation', { exit: 2 }, {}, 'Config'],
  ['no access token', { exit: 3 }, {}, 'Config'],
  ['no such stack', { exit: 6 }, {}, 'Config'],
  ['the program throws', { exit: 1 }, error('Running program failed with an unhandled exception'), 'Program'],
  ['a policy is violated', { exit: 1 }, error('no public buckets'), 'Program'],
  ['a create fails', { exit: 1 }, { ...error('AccessDenied', URN), failedResources: 1 }, 'Provider'],
  [
    'too many requests',
    { exit: 1 },
    { ...error('status 429: slow down', URN), failedResources: 1 },
    'RateLimited',
  ],
  [
    'throttled by AWS',
    { exit: 1 },
    { ...error('ThrottlingException: Rate exceeded. Throttled', URN), failedResources: 1 },
    'RateLimited',
  ],
  [
    'locked',
    { exit: 1, tail: ['error: the stack is currently locked by 1 lock(s). Either wait'] },
    {},
    'Locked',
  ],
  [
    'a wrong passphrase',
    { exit: 1, tail: ['error: getting secrets manager: incorrect passphrase'] },
    {},
    'Config',
  ],
  [
    'no passphrase',
    { exit: 1, tail: ['error: passphrase must be set with PULUMI_CONFIG_PASSPHRASE'] },
    {},
    'Config',
  ],
  [
    'missing configuration',
    { exit: 1 },
    error("Stack 'dev' is missing configuration value 'size'"),
    'Config',
  ],
  ['a program asks for it', { exit: 1 }, error('Missing required configuration variable web:size'), 'Config'],
  [
    'a value of the wrong type',
    { exit: 1, tail: ["error: Stack 'dev' with configuration key 'n' must be of type 'integer'"] },
    {},
    'Config',
  ],
  ['no project file', { exit: 1, tail: ['error: no Pulumi.yaml project file found'] }, {}, 'Config'],
  [
    'the backend is out of reach',
    { exit: 1, tail: ['error: unable to open bucket s3://x: dial tcp: connection refused'] },
    {},
    'Provider',
  ],
  ['something else', { exit: 1, tail: ['error: what is this'] }, {}, 'Program'],
];

describe('result and class', () => {
  for (const [name, ending, outcome, expected] of rows)
    test(name, () => {
      const verdict = judgeRun({
        tail: [],
        timeoutMs: 60_000,
        ...ending,
        outcome: { ...nothing, ...outcome },
      });
      assert.equal(verdict.result === 'failed' ? verdict.failure : verdict.result, expected);
      assert.equal(
        verdict.reason.code,
        expected === 'Locked' ? 'Locked' : expected === 'succeeded' ? 'RunSucceeded' : 'RunFailed',
      );
      assert.notEqual(verdict.reason.text, '');
    });
});

describe('what people read', () => {
  const textOf = (ending: Partial<Omit<Ending, 'outcome'>>, outcome: Partial<Outcome> = {}): string =>
    judgeRun({ tail: [], timeoutMs: 60_000, ...ending, outcome: { ...nothing, ...outcome } }).reason.text;

  test('the text of a failed program is the error, not what announces it', () => {
    const textOf = (text: string): string =>
      judgeRun({ exit: 1, timeoutMs: 1, tail: [], outcome: { ...nothing, ...error(text) } }).reason.text;
    const head = "Running program '/program/index.js' failed with an unhandled exception:";
    assert.equal(
      textOf(`${head}\nError: no such bucket\n    at /program/index.js:1:1\n`),
      'Error: no such bucket',
    );
    assert.equal(
      textOf(`${head}\n\nTSError: cannot compile:\nindex.ts(3,5): error TS2304\n`),
      'index.ts(3,5): error TS2304',
    );
    assert.equal(textOf(`${head}\n`), head);
  });

  test('what changed', () => {
    const changes = { create: 2, update: 0, delete: 1, replace: 0, same: 5 };
    assert.equal(textOf({ exit: 0 }, { ...ended('succeeded'), changes }), '2 create, 1 delete, 5 unchanged');
  });
  test('that nothing did', () =>
    assert.equal(textOf({ exit: 0 }, ended('succeeded')), 'nothing to change, 3 unchanged'));
  test('the first error and its resource', () =>
    assert.equal(
      textOf({ exit: 1 }, error('AccessDenied\n  at line 3', URN)),
      'aws:s3/bucket:Bucket::assets: AccessDenied',
    ));
  test('the error line where there were no events', () =>
    assert.equal(textOf({ exit: 1, tail: ['Updating', 'error: nope', 'Usage: …'] }), 'nope'));
  test('memory, where it was killed', () => assert.match(textOf({ exit: 137 }), /killed, often for memory/));
  test('the time limit', () =>
    assert.equal(textOf({ stopped: { cause: 'timeout' } }), 'stopped after its time limit of 60 s'));
  test('a long error is cut', () => assert.ok(textOf({ exit: 1 }, error('x'.repeat(5_000))).length < 600));
});
