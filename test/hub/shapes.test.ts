import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clean, makeLineFilter, MASK, withoutShapes } from '../../hub/shapes.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const secrets: Readonly<Record<string, string>> = {
  aws: `AKIA${'Q7'.repeat(8)}`,
  github: `ghp_${'a1'.repeat(18)}`,
  githubFine: `github_pat_${'a1_'.repeat(20)}`,
  gitlab: `glpat-${'a1-'.repeat(8)}`,
  slack: `xoxb-${'12-ab'.repeat(5)}`,
  pulumi: `pul-${'0a'.repeat(20)}`,
  google: `AIza${'b2_-x'.repeat(7)}`,
  googleAccess: `ya29.${'a1_-.'.repeat(8)}z`,
  stripe: `sk_live_${'a1'.repeat(12)}`,
  npm: `npm_${'a1'.repeat(18)}`,
  pypi: `pypi-${'a1_-b'.repeat(12)}`,
  vault: `hvs.${'a1'.repeat(16)}`,
  digitalOcean: `dop_v1_${'0a'.repeat(32)}`,
  docker: `dckr_pat_${'a1_-b'.repeat(5)}`,
  sendGrid: ['SG', 'a1_-'.repeat(5), 'b2_-'.repeat(10)].join('.'),
  openAi: `sk-${'a1'.repeat(24)}`,
  anthropic: `sk-ant-${'a1_-'.repeat(12)}`,
  nats: `SU${'A2'.repeat(28)}`,
  jwt: ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiJ4In0xyz', 'c2lnbmF0dXJl'].join('.'),
  age: `AGE-SECRET-KEY-1${'Q7'.repeat(29)}`,
};

for (const [name, secret] of Object.entries(secrets)) {
  test(`${name} is cut out, what is around it stays`, () => {
    assert.equal(withoutShapes(`before ${secret} after`), `before ${MASK} after`);
    assert.ok(!withoutShapes(`{"token":"${secret}"}`).includes(secret));
  });
}

const framed: readonly (readonly [string, string])[] = [
  ['postgres://app:s3cret-pw@db/x', `postgres://app:${MASK}@db/x`],
  ['Authorization: Bearer abcdefghijkl', `Authorization: Bearer ${MASK}`],
  [`AccountKey=${'aB3/'.repeat(15)}==`, `AccountKey=${MASK}`],
  [`aws_secret_access_key = ${'aB3/'.repeat(10)} x`, `aws_secret_access_key = ${MASK} x`],
  [`https://a.example/x?sv=1&sig=${'aB3%2F'.repeat(5)}%3D&se=2`, `https://a.example/x?sv=1&sig=${MASK}&se=2`],
  [`X-Amz-Signature=${'0a'.repeat(32)}&x=1`, `X-Amz-Signature=${MASK}&x=1`],
  [`X-Amz-Credential=${'Q7'.repeat(8)}/eu x`, `X-Amz-Credential=${MASK} x`],
  [`X-Amz-Security-Token=${'aB3'.repeat(8)} x`, `X-Amz-Security-Token=${MASK} x`],
];
for (const [text, expected] of framed) {
  test(`only the inside of ${text.slice(0, 20)} goes`, () => assert.equal(withoutShapes(text), expected));
}

for (const harmless of [
  'a'.repeat(40),
  `v1:${'0a'.repeat(32)}`,
  'urn:pulumi:prod::web::aws:s3/bucket:Bucket::site',
  'https://user@host/path and ssh://git@host:22/x',
  'task-force sk-short Sunday',
  'organization/web/prod',
]) {
  test(`${harmless.slice(0, 40)} stays`, () => {
    assert.equal(withoutShapes(harmless), harmless);
    assert.equal(makeLineFilter()(harmless), harmless);
  });
}

const BEGIN = ['-----BEGIN RSA', 'PRIVATE KEY-----'].join(' ');
const END = ['-----END RSA', 'PRIVATE KEY-----'].join(' ');

test('a private key over several lines is cut out, and one whose begin was not seen', () => {
  const body = 'MIIEpAIBAAKCAQEA'.repeat(4);
  const lines = ['start', BEGIN, body, 'short+end=', END, 'after'];
  assert.deepEqual(lines.map(makeLineFilter()), ['start', MASK, MASK, MASK, MASK, 'after']);
  assert.deepEqual([body, END, 'after'].map(makeLineFilter()), [MASK, MASK, 'after']);
  assert.equal(withoutShapes(`x\n${lines.slice(1, 5).join('\n')}\ny`), `x\n${MASK}\ny`);
});

test('all strings of a value are cleaned, nothing else changes', () => {
  const secret = secrets['github']!;
  const value = { n: 1, none: null, deep: [{ text: `a ${secret}` }], lines: ['x', secret] };
  assert.deepEqual(clean(value), { n: 1, none: null, deep: [{ text: `a ${MASK}` }], lines: ['x', MASK] });
});

test('long texts without a secret stay as they are, whatever they look like', () => {
  // each of these took minutes when every start was followed to the end
  for (const text of ['a.'.repeat(200_000), '-eyJ'.repeat(100_000), 'a://'.repeat(100_000)])
    assert.equal(withoutShapes(text), text);
});
