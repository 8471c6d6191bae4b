/** Placeholders. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { fillJson, fillText } from '../../../hub/resolve/placeholders.ts';

const VALUES = {
  cluster: 'eu',
  namespace: 'shop',
  name: 'web',
  labels: { 'topology/zone': 'z1' },
  vars: { a: '1', empty: '', brace: '{cluster}' },
};

const FILLED: readonly (readonly [text: string, filled: string])[] = [
  ['', ''],
  ['plain', 'plain'],
  ['{cluster}-{namespace}-{name}', 'eu-shop-web'],
  ['{label:topology/zone}{var:a}{var:empty}', 'z11'],
  ['{{cluster}', '{cluster}'],
  ['{{{{', '{{'],
  ['${{HOME}', '${HOME}'],
  ['}', '}'],
  ['{var:brace}', '{cluster}'],
];
for (const [text, filled] of FILLED) {
  test(`“${text}” → “${filled}”`, () => {
    assert.deepEqual(fillText(text, VALUES), { value: filled, faults: [] });
  });
}

const FAULTS: readonly (readonly [text: string, named: string])[] = [
  ['{var:b}', '{var:b}'],
  ['{label:tier}', '{label:tier}'],
  ['{var:constructor}', '{var:constructor}'],
  ['{region}', '{region}'],
  ['{Cluster}', '{Cluster}'],
  ['{}', '{}'],
  ['{var:}', '{var:}'],
  ['a { b', '{'],
];
for (const [text, named] of FAULTS) {
  test(`“${text}” is a fault that names ${named}`, () => {
    const [fault, ...others] = fillText(text, VALUES).faults;
    assert.ok(fault?.includes(named));
    assert.deepEqual(others, []);
  });
}

test('texts are filled at any depth, keys are not', () => {
  assert.deepEqual(fillJson({ '{cluster}': ['{name}', 1, null, { a: '{x}' }] }, VALUES), {
    value: { '{cluster}': ['web', 1, null, { a: '{x}' }] },
    faults: ['“{x}” is no placeholder: write {{ for a brace'],
  });
});
