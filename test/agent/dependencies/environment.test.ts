import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installSecrets } from '../../../agent/dependencies/environment.ts';

test('tokens, and passwords in addresses, are secrets of an install; plain settings are none', () => {
  const secrets = installSecrets({
    'npm_config_//registry.example/:_authToken': 'npm_token',
    npm_config__auth: 'dXNlcjpwYXNz',
    npm_config__password: 'secret-word',
    HTTPS_PROXY: 'http://user:pass-word@proxy.example:3128',
    npm_config_registry: 'https://registry.example/',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  });
  assert.deepEqual(secrets, ['npm_token', 'dXNlcjpwYXNz', 'secret-word', 'pass-word']);
});
