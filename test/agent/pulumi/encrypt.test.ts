import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encryptValue, freshState, isKeyOf, passphraseKey } from '../../../agent/pulumi/encrypt.ts';

test('a key is known by its state, which Pulumi made', async () => {
  // made by `pulumi stack init` 3.274.1 with the passphrase `pp`
  const state = 'v1:1pxF+dIARa4=:v1:+9+w+Q4obSYAmByj:8wQ3ArX9s9CgCLX39zoGPFgOrm+8mw==';
  assert.ok(isKeyOf(await passphraseKey('pp', state), state));
  assert.ok(!isKeyOf(await passphraseKey('PP', state), state));
  assert.ok(!isKeyOf(await passphraseKey('pp', state), state.slice(0, -4)));
  assert.ok(!isKeyOf(await passphraseKey('pp', ''), 'v1'));
});

test('a fresh state belongs to its passphrase, and no ciphertext is ever made twice', async () => {
  const state = await freshState('pp');
  const key = await passphraseKey('pp', state);
  assert.ok(isKeyOf(key, state));
  assert.match(encryptValue(key, 'x'), /^v1:[^:]+:[^:]+$/);
  assert.notEqual(encryptValue(key, 'x'), encryptValue(key, 'x'));
});
