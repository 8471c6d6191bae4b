import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { flagOf, helpOf, parseSettings, type Settings } from '../../shared/config.ts';
import { golden } from '../harness/golden.ts';

const settings = {
  dataDir: { env: 'DATA_DIR', type: 'string', unit: 'folder', doc: 'where things are kept' },
  servers: { env: 'SERVERS', type: 'list', unit: 'url', doc: 'servers to try', default: ['a', 'b'] },
  tags: { env: 'TAGS', type: 'list', doc: 'words', default: [] },
  slots: { env: 'SLOTS', type: 'number', unit: 'runs', doc: 'at once', default: 4 },
  watch: { env: 'WATCH', type: 'boolean', doc: 'follow changes', default: true },
  token: { env: 'TOKEN', type: 'string', doc: 'may be left out', optional: true },
} as const satisfies Settings;

const DEFAULTS = { dataDir: '/d', servers: ['a', 'b'], tags: [], slots: 4, watch: true, token: '' };
const GIVEN = { DATA_DIR: '/d' };

const values: readonly [string, readonly string[], Record<string, string>, Partial<typeof DEFAULTS>][] = [
  ['defaults', [], {}, {}],
  ['the environment is over the default', [], { SLOTS: '9' }, { slots: 9 }],
  ['a flag is over the environment', ['--slots', '2'], { SLOTS: '9' }, { slots: 2 }],
  ['a value after an equals sign', ['--slots=2'], {}, { slots: 2 }],
  ['the last of two flags counts', ['--slots=2', '--slots=3'], {}, { slots: 3 }],
  ['an empty variable counts as not set', [], { SLOTS: '', SERVERS: '' }, {}],
  ['a list from the environment', [], { SERVERS: 'x, y,,z' }, { servers: ['x', 'y', 'z'] }],
  ['a list from one flag', ['--servers', 'x,y'], {}, { servers: ['x', 'y'] }],
  [
    'a list from several flags',
    ['--servers=x', '--servers=y,z'],
    { SERVERS: 'q' },
    { servers: ['x', 'y', 'z'] },
  ],
  ['an emptied list', ['--servers='], {}, { servers: [] }],
  ['a negated boolean', ['--no-watch'], { WATCH: 'true' }, { watch: false }],
  ['a boolean with a value', ['--watch=false'], {}, { watch: false }],
  ['a boolean alone', ['--watch'], { WATCH: '0' }, { watch: true }],
  ['a boolean from the environment', [], { WATCH: '0' }, { watch: false }],
  ['an optional text that is emptied', ['--token='], { TOKEN: 'x' }, { token: '' }],
  ['a value that begins with a dash', ['--token=-x'], {}, { token: '-x' }],
];

for (const [name, argv, environment, changed] of values) {
  test(`settings: ${name}`, () => {
    const parsed = parseSettings(settings, argv, { ...GIVEN, ...environment });
    assert.deepEqual(parsed, { kind: 'values', values: { ...DEFAULTS, ...changed } });
  });
}

const errors: readonly [string, readonly string[], Record<string, string>, readonly string[]][] = [
  ['missing', [], { DATA_DIR: '' }, ['--data-dir (DATA_DIR): must be given']],
  ['emptied', ['--data-dir='], {}, ['--data-dir (DATA_DIR): must not be empty']],
  ['not a number', [], { SLOTS: 'many' }, ['--slots (SLOTS): “many” is not a number (unit: runs)']],
  ['a blank number', ['--slots= '], {}, ['--slots (SLOTS): “ ” is not a number (unit: runs)']],
  ['not a boolean', ['--watch=maybe'], {}, ['--watch (WATCH): “maybe” is not true or false']],
  ['a flag without its value at the end', ['--token'], {}, ['--token (TOKEN): needs a value']],
  ['a flag without its value before another', ['--token', '--watch'], {}, ['--token (TOKEN): needs a value']],
  ['unknown', ['--slot=1'], {}, ['--slot is not known (see --help)']],
  ['unknown and short', ['-s'], {}, ['-s is not known (see --help)']],
  ['a negation of what is no boolean', ['--no-slots'], {}, ['--no-slots is not known (see --help)']],
  ['a bare word', ['now'], {}, ['“now” is not a flag (see --help)']],
];

for (const [name, argv, environment, expected] of errors) {
  test(`settings: ${name} is refused`, () => {
    const parsed = parseSettings(settings, argv, { ...GIVEN, ...environment });
    assert.deepEqual(parsed, { kind: 'errors', errors: expected });
  });
}

test('everything that is wrong is said at once', () => {
  const parsed = parseSettings(settings, ['--slots', 'x', '--colour', '--watch=maybe'], {});
  assert.deepEqual(parsed.kind === 'errors' && parsed.errors.map((error) => error.split(' ')[0]), [
    '--colour',
    '--data-dir',
    '--slots',
    '--watch',
  ]);
});

test('help is given whatever else is wrong', () => {
  assert.deepEqual(parseSettings(settings, ['--colour', '--help'], {}), { kind: 'help' });
});

test('the text of help', async () => {
  await golden('settings-help.txt', helpOf('sample [flags]', settings));
});

test('any text reaches its setting whole, by flag and by variable', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (text) => {
      for (const [argv, environment] of [
        [[`--data-dir=${text}`], {}],
        [[], { DATA_DIR: text }],
      ] as const) {
        const parsed = parseSettings(settings, argv, environment);
        assert.equal(parsed.kind === 'values' && parsed.values.dataDir, text);
      }
    }),
  );
});

test('a flag is its setting in lower case with dashes', () => {
  assert.equal(flagOf('natsSeedFile'), 'nats-seed-file');
});
