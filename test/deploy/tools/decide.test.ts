import assert from 'node:assert/strict';
import test from 'node:test';
import type { Wanted } from '../../../deploy/tools/catalog.ts';
import {
  compareVersions,
  decide,
  goFault,
  newest,
  versionIn,
  type Candidate,
  type Decision,
  type Seen,
} from '../../../deploy/tools/decide.ts';

const wanted: Wanted = {
  name: 'pulumi',
  variable: 'TOWLINE_PULUMI',
  versionArgs: ['version'],
  atLeast: '3.200.0',
  beside: ['pulumi-language-yaml'],
};

const good = (path: string): Candidate => ({ path, version: '3.200.0', missing: [] });
const old = (path: string): Candidate => ({ path, version: '3.199.9', missing: [] });
const lonely = (path: string): Candidate => ({ path, version: '3.201.0', missing: ['pulumi-language-yaml'] });
const mute = (path: string): Candidate => ({ path, version: undefined, missing: [] });
const nothing: Seen = { named: undefined, onPath: undefined, built: undefined };

const table: readonly { name: string; seen: Partial<Seen>; decision: Decision }[] = [
  {
    name: 'the named one wins over PATH and cache',
    seen: { named: good('/n'), onPath: good('/p'), built: '/b' },
    decision: { kind: 'use', path: '/n', from: 'environment' },
  },
  {
    name: 'a named one that is too old is refused, whatever else there is',
    seen: { named: old('/n'), onPath: good('/p'), built: '/b' },
    decision: {
      kind: 'refuse',
      reason: 'TOWLINE_PULUMI: /n is version 3.199.9, at least 3.200.0 is needed',
    },
  },
  {
    name: 'a named one that is not there is refused',
    seen: { named: mute('/n'), built: '/b' },
    decision: { kind: 'refuse', reason: 'TOWLINE_PULUMI: /n does not start or does not tell its version' },
  },
  {
    name: 'a named one without its neighbours is refused',
    seen: { named: lonely('/n') },
    decision: { kind: 'refuse', reason: 'TOWLINE_PULUMI: beside /n there is no pulumi-language-yaml' },
  },
  {
    name: 'PATH wins over the cache',
    seen: { onPath: good('/p'), built: '/b' },
    decision: { kind: 'use', path: '/p', from: 'PATH' },
  },
  {
    name: 'an old one on PATH is passed over for the cache',
    seen: { onPath: old('/p'), built: '/b' },
    decision: { kind: 'use', path: '/b', from: 'cache' },
  },
  {
    name: 'one on PATH without its neighbours is passed over, and the reason is kept',
    seen: { onPath: lonely('/p') },
    decision: { kind: 'build', passedOver: 'beside /p there is no pulumi-language-yaml' },
  },
  { name: 'nothing there is built', seen: {}, decision: { kind: 'build', passedOver: undefined } },
];

for (const { name, seen, decision } of table)
  test(`look-up: ${name}`, () => assert.deepEqual(decide(wanted, { ...nothing, ...seen }), decision));

test('versions are compared part by part as numbers', () => {
  const order = ['2.9.10', '2.10.0', '2.10', '2.10.1', '10.0'];
  assert.deepEqual(
    order.slice(1).map((version, index) => Math.sign(compareVersions(order[index] ?? '', version))),
    [-1, 0, -1, -1],
  );
  assert.equal(compareVersions('1.26', '1.26.6') < 0, true);
  assert.equal(newest(['1.26', '1.26.6', '1.26.0']), '1.26.6');
});

test('the version is the first number with dots', () => {
  assert.equal(versionIn('nats-server: v2.15.2'), '2.15.2');
  assert.equal(versionIn('go version go1.26.8 linux/amd64'), '1.26.8');
  assert.equal(versionIn('v3.274.1-dev.2\n'), '3.274.1');
  assert.equal(versionIn('no version'), undefined);
});

test('what to do about Go is said', () => {
  const advice = 'install Go 1.26.6 or newer (https://go.dev/doc/install)';
  assert.equal(goFault('1.26.6', { kind: 'missing' }), `Go is not installed: ${advice}`);
  assert.equal(goFault('1.26.6', { kind: 'version', version: '1.26.5' }), `Go is version 1.26.5: ${advice}`);
  assert.equal(goFault('1.26.6', { kind: 'broken', output: 'no\n' }), `Go does not work (no): ${advice}`);
  assert.equal(goFault('1.26.6', { kind: 'version', version: '1.27.0' }), undefined);
});
