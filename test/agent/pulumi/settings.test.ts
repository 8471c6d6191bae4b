import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import {
  encryptionOf,
  mergeSettings,
  readProject,
  renderSettings,
  settingsFile,
  withSecrets,
  type SettingsInputs,
} from '../../../agent/pulumi/settings.ts';

const SALT = 'v1:c2FsdA==:v1:bm9uY2U=:dGVzdA==';
const FILE = 'Pulumi.dev.yaml';

function merged(text: string | undefined, inputs: SettingsInputs, encryption?: string): unknown {
  const read = mergeSettings(text, FILE, {
    inputs,
    project: 'web',
    ...(encryption === undefined ? {} : { encryption }),
  });
  return read.kind === 'read' ? parse(renderSettings(read.value, FILE)) : read.why;
}

describe('merge', () => {
  test('the order wins over the file; keys without a namespace are the project’s', () =>
    assert.deepEqual(
      merged('config:\n  web:a: 1\n  web:b: file\n', { config: { b: 'order', 'aws:region': 'eu' } }),
      {
        config: { 'web:a': 1, 'web:b': 'order', 'aws:region': 'eu' },
      },
    ));
  test('structured values replace as a whole', () =>
    assert.deepEqual(
      merged('config:\n  web:m: {a: 1}\n', { config: { 'web:m': { b: ['x', 2, true, null] } } }),
      {
        config: { 'web:m': { b: ['x', 2, true, null] } },
      },
    ));
  test('texts that look like other types stay texts', () =>
    assert.deepEqual(merged(undefined, { config: { a: '3', b: 'true', c: '', d: 'a: b\n# c' } }), {
      config: { 'web:a': '3', 'web:b': 'true', 'web:c': '', 'web:d': 'a: b\n# c' },
    }));
  test('what else the file says stays', () =>
    assert.deepEqual(merged('environment: [shared]\nconfig: {}\n', {}), {
      environment: ['shared'],
      config: {},
    }));
  test('ignore: the file does not count', () =>
    assert.deepEqual(merged(`encryptionsalt: ${SALT}\nconfig: {web:a: 1}\n`, { stackConfig: 'ignore' }), {
      config: {},
    }));
  test('require: it must be there', () =>
    assert.equal(merged(undefined, { stackConfig: 'require' }), `${FILE} is required and missing`));
  test('a learnt salt is written', () =>
    assert.deepEqual(merged(undefined, {}, SALT), { encryptionsalt: SALT, config: {} }));
  test('the file’s own salt wins: its encrypted values need it', () =>
    assert.deepEqual(merged(`encryptionsalt: ${SALT}\n`, {}, 'v1:other:v1:x:y'), {
      encryptionsalt: SALT,
      config: {},
    }));
  test('a learnt cloud key is written beside its provider', () =>
    assert.deepEqual(merged(undefined, { secretsProvider: 'awskms://k' }, 'a2V5'), {
      secretsprovider: 'awskms://k',
      encryptedkey: 'a2V5',
      config: {},
    }));
  test('no YAML, or no map', () => {
    assert.match(String(merged('a: [', {})), /^Pulumi\.dev\.yaml: /);
    assert.equal(merged('- a', {}), `${FILE} is not a map`);
  });
});

describe('secrets providers', () => {
  const rows: readonly (readonly [string, string | undefined, boolean])[] = [
    [`encryptionsalt: ${SALT}`, 'passphrase', true],
    [`encryptionsalt: ${SALT}`, 'awskms://k', false],
    ['secretsprovider: awskms://k', 'awskms://k', true],
    ['secretsprovider: awskms://k', 'awskms://other', false],
    ['secretsprovider: awskms://k', 'passphrase', false],
    ['secretsprovider: awskms://k', undefined, true],
    ['config: {}', 'awskms://k', true],
  ];
  for (const [text, secretsProvider, good] of rows)
    test(`${text} and ${secretsProvider}`, () => {
      const read = mergeSettings(text, FILE, {
        inputs: secretsProvider === undefined ? {} : { secretsProvider },
        project: 'web',
      });
      assert.equal(read.kind === 'read', good);
    });
});

test('encrypted values are added as Pulumi writes them', () => {
  const settings = withSecrets({ config: { 'web:a': 1 } }, { 'web:p': 'v1:x:y' });
  assert.deepEqual(settings.config, { 'web:a': 1, 'web:p': { secure: 'v1:x:y' } });
});

test('the encryption state survives the ledger as one text', () => {
  for (const state of [{ encryptionsalt: SALT }, { encryptedkey: 'a2V5' }]) {
    const encryption = encryptionOf(state);
    assert.ok(encryption !== undefined);
    const merged = mergeSettings(undefined, FILE, { inputs: {}, project: 'web', encryption });
    assert.deepEqual(merged, { kind: 'read', value: { ...state, config: {} } });
  }
  assert.equal(encryptionOf({ encryptedkey: 'a2V5' }), 'a2V5');
  assert.equal(encryptionOf({}), undefined);
});

describe('projects', () => {
  const read = (text: string) => {
    const project = readProject(text, 'Pulumi.yaml');
    return project.kind === 'read' ? project.value : project.why;
  };
  const whyNot = (text: string): string => {
    const project = readProject(text, 'Pulumi.yaml');
    return project.kind === 'bad' ? project.why : 'read';
  };
  test('the runtime by name or with options; folder of settings; backend', () => {
    assert.deepEqual(
      read('name: web\nruntime: {name: nodejs, options: {}}\nstackConfigDir: cfg\nbackend: {url: "s3://b"}'),
      {
        name: 'web',
        runtime: 'nodejs',
        file: 'Pulumi.yaml',
        settingsDir: 'cfg',
        backendUrl: 's3://b',
      },
    );
    assert.deepEqual(read('name: web\nruntime: yaml\nconfig: old'), {
      name: 'web',
      runtime: 'yaml',
      file: 'Pulumi.yaml',
      settingsDir: 'old',
    });
  });
  test('what is missing', () => {
    assert.match(whyNot('runtime: yaml'), /no name/);
    assert.match(whyNot('name: web'), /no runtime/);
    assert.match(whyNot(': :'), /Pulumi\.yaml/);
  });
  test('the settings file bears the last part of the stack’s name and the project file’s extension', () => {
    const project = { name: 'web', runtime: 'yaml', settingsDir: '.' };
    assert.equal(
      settingsFile({ ...project, file: 'Pulumi.yaml' }, 'organization/web/dev'),
      'Pulumi.dev.yaml',
    );
    assert.equal(settingsFile({ ...project, file: 'Pulumi.json' }, 'dev'), 'Pulumi.dev.json');
    assert.equal(
      renderSettings({ config: { a: 1 } }, 'Pulumi.dev.json'),
      '{\n  "config": {\n    "a": 1\n  }\n}\n',
    );
  });
});
