import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { makeRedactor, MASK, patternsOf, redactText } from '../../agent/redact.ts';

const SECRET = 'p"ä$s w<o>r&d/+?\\x';

const goEscaped = (json: string): string =>
  json.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026');
const goJson = goEscaped(JSON.stringify(SECRET));

describe('forms in which a secret is printed', () => {
  const forms: readonly (readonly [string, string])[] = [
    ['as it is', SECRET],
    ['in JSON', JSON.stringify({ password: SECRET })],
    ['in JSON of Go', goJson],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ password: SECRET }))],
    ['in JSON of Go in JSON', JSON.stringify(goJson)],
    ['in JSON in JSON of Go', goEscaped(JSON.stringify(JSON.stringify({ password: SECRET })))],
    ['in JSON of Go in JSON in JSON', JSON.stringify(JSON.stringify({ config: goJson }))],
    ['in a URL', `https://user:${encodeURIComponent(SECRET)}@host/`],
    [
      'in a URL with small digits',
      encodeURIComponent(SECRET).replace(/%../g, (escape) => escape.toLowerCase()),
    ],
    ['in a form', new URLSearchParams({ password: SECRET }).toString()],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in base64 behind one byte', Buffer.from(`:${SECRET}!`).toString('base64')],
    ['in base64 behind two bytes', Buffer.from(`u:${SECRET}@@`).toString('base64')],
    ['in base64 for URLs', Buffer.from(`user:${SECRET}`).toString('base64url')],
  ];
  for (const [name, text] of forms)
    test(name, () => {
      const shown = redactText(text, patternsOf([SECRET]));
      assert.match(shown, /\[secret\]/);
      // three characters of base64 on either side belong to its neighbours as well
      assert.ok(shown.replaceAll(MASK, '').length < text.length - SECRET.length + 7, shown);
      for (const piece of ['p"ä', 'w<o>r', Buffer.from(SECRET).toString('base64').slice(4, -4)])
        assert.ok(!shown.includes(piece), shown);
    });
});

test('each line of a value of several lines is masked, also where the program indents it', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----\n';
  const shown = redactText(key.split('\n').join('\n    '), patternsOf([key]));
  assert.ok(!shown.includes('MIIEv') && !shown.includes('9w0BA'), shown);
});

test('base64 that was broken into lines is masked line by line', () => {
  const secrets = [
    'a secret that is longer than one line of base64: 0123456789 0123456789 0123456789',
    Array.from({ length: 20 }, (_, n) => `${n} of a long value`).join(' '),
  ];
  for (const secret of secrets) {
    const whole = Buffer.from(secret).toString('base64');
    for (const width of [64, 76]) {
      const lines = whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      assert.equal(redactText(lines.join('\n  '), patternsOf([secret])), lines.map(() => MASK).join('\n  '));
    }
  }
});

test('a value with a line end is found without it', () => {
  assert.equal(redactText('token: abcdef', patternsOf(['abcdef\n'])), `token: ${MASK}`);
});

test('values of less than four bytes are not looked for', () => {
  assert.equal(redactText('true: 1 dev', patternsOf(['1', 'dev', ''])), 'true: 1 dev');
});

test('secrets that overlap are masked as a whole', () => {
  assert.equal(redactText('xx abcdefgh xx', patternsOf(['abcdef', 'defgh'])), `xx ${MASK} xx`);
});

test('the beginning of a secret at the very end of the output is masked', () => {
  const redactor = makeRedactor(patternsOf(['a-secret-of-some-length']));
  const shown = Buffer.concat([redactor.push(Buffer.from('so: a-secret-of-so')), redactor.end()]).toString();
  assert.equal(shown, `so: ${MASK}`);
});

const secret = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 9 });

test('no chunking lets through what the whole would not', () => {
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(secret, fc.constantFrom('-', '\n', 'ab', 'x')), { maxLength: 12 }),
      fc.array(fc.nat(5), { maxLength: 40 }),
      (secrets, words, cuts) => {
        const patterns = secrets.map((one) => Buffer.from(one));
        const text = [...words, ...secrets].join('');
        const whole = redactText(text, patterns);
        assert.equal(inChunks(text, cuts, patterns), whole);
        for (const one of secrets) assert.ok(!whole.includes(one));
      },
    ),
    { numRuns: 2_000 },
  );
});

/** A prefix at the end is masked only from eight bytes on, so the text ends with a byte that begins no secret. */
function inChunks(text: string, cuts: readonly number[], patterns: readonly Buffer[]): string {
  const redactor = makeRedactor(patterns);
  const parts: Buffer[] = [];
  let at = 0;
  for (const cut of cuts) {
    parts.push(redactor.push(Buffer.from(text.slice(at, at + cut))));
    at += cut;
  }
  parts.push(redactor.push(Buffer.from(text.slice(at))), redactor.end());
  return Buffer.concat(parts).toString();
}

test('what is held back is bounded by the longest secret, also in an endless repetition of one', () => {
  const redactor = makeRedactor(patternsOf(['aaaa']));
  let shown = '';
  for (let n = 0; n < 1_000; n++) shown += redactor.push(Buffer.from('aaaaa')).toString();
  assert.equal(shown + redactor.end().toString(), MASK);
});
