import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLog, type Log } from '../../shared/log.ts';

const CANARY = 'canary-5f1d';

interface Written {
  readonly log: Log;
  lines(): string;
}

function record(level = 'debug'): Written {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: makeLog({ name: 'test', level, destination }), lines: () => lines.join('') };
}

for (const field of [
  'key',
  'seed',
  'token',
  'password',
  'passphrase',
  'secret',
  'secrets',
  'authorization',
  'cookie',
  'env',
  'config',
  'configSecrets',
  'outputs',
]) {
  test(`${field} is cut out on three levels, in lists and in child logs`, () => {
    const { log, lines } = record();
    const secret = { [field]: CANARY, beside: 'seen' };
    log.info(secret, 'level 0');
    log.info({ one: secret }, 'level 1');
    log.info({ one: { two: secret } }, 'level 2');
    log.info({ list: [secret] }, 'list');
    log.child(secret).info('child');
    log.info({ [field]: { inner: CANARY } }, 'structured');
    assert.doesNotMatch(lines(), new RegExp(CANARY));
    assert.equal(lines().match(/\[redacted\]/g)?.length, 6);
    assert.equal(lines().match(/"beside":"seen"/g)?.length, 5);
  });
}

/** As client libraries throw them: with the whole request on the error. */
const withExtras = (message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), {
    request: { headers: { 'x-api': CANARY } },
    body: CANARY,
    code: 'ECONNREFUSED',
  });

test('an error is its name, message, stack, system code and causes, and nothing of its extras', () => {
  const { log, lines } = record();
  const error = withExtras('refused', withExtras('below'));
  log.error({ err: error }, 'as err');
  log.error(error);
  log.error({ failure: error }, 'under another name');
  log.child({ err: error }).error('in a child');
  assert.doesNotMatch(lines(), new RegExp(CANARY));
  for (const line of lines().trim().split('\n')) {
    const entry = JSON.parse(line) as Record<string, unknown>;
    const { type, message, code, stack, cause } = (entry['err'] ?? entry['failure']) as Record<
      string,
      unknown
    >;
    assert.deepEqual([type, message, code], ['Error', 'refused', 'ECONNREFUSED']);
    assert.match(String(stack), /log\.test\.ts/);
    assert.equal((cause as { message: string }).message, 'below');
  }
});

const thrown: readonly [string, unknown, string][] = [
  ['a text', 'out of paper', 'out of paper'],
  ['an object', { body: CANARY }, 'thrown: object'],
  ['nothing', undefined, 'thrown: undefined'],
];

for (const [name, value, message] of thrown) {
  test(`${name} that is thrown is logged without what it holds`, () => {
    const { log, lines } = record();
    log.error({ err: value }, 'failed');
    assert.deepEqual((JSON.parse(lines()) as { err: unknown }).err, { message });
  });
}

test('a code that is no system code stays out, and a circle of causes ends', () => {
  const { log, lines } = record();
  const error = Object.assign(new Error('odd'), { code: CANARY });
  error.cause = error;
  log.error({ err: error }, 'failed');
  assert.doesNotMatch(lines(), new RegExp(CANARY));
});

test('a line has its time, name, level and message; what is below the level is not written', () => {
  const { log, lines } = record('warn');
  log.info('quiet');
  log.warn({ placement: 'harbour/shop/web' }, 'loud');
  const entry = JSON.parse(lines()) as Record<string, string | number>;
  assert.match(String(entry['time']), /^\d{4}-\d{2}-\d{2}T.*Z$/);
  assert.deepEqual(
    [entry['name'], entry['level'], entry['placement'], entry['msg']],
    ['test', 40, 'harbour/shop/web', 'loud'],
  );
});
