/** Files that are hostile or broken as text. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { readCatalog } from '../../../hub/catalog/read.ts';
import { readDocuments } from '../../../hub/catalog/documents.ts';
import { file, NOW, printCatalog } from './files.ts';

const HEAD = 'apiVersion: towline.dev/v1\nkind: Stack\nmetadata: {name: web, namespace: shop}\nspec:\n';
const bomb = `a: &a0 [x, x]\n${Array.from({ length: 30 }, (_, n) => `b${n}: &a${n + 1} [*a${n}, *a${n}]\n`).join('')}`;

const HOSTILE: readonly (readonly [what: string, content: string | Buffer, said: RegExp])[] = [
  ['2 MB', `${HEAD}  config: {a: "${'x'.repeat(2_000_000)}"}\n`, /web\.yaml:1: .* 2000\d+ bytes.*split it/],
  ['no UTF-8', Buffer.concat([Buffer.from(HEAD), Buffer.from([0x20, 0x23, 0xff, 0xfe])]), /not valid UTF-8/],
  ['UTF-16 and a mark', Buffer.from(`\ufeff${HEAD}`, 'utf16le'), /web\.yaml:1: .*UTF-16/],
  ['UTF-16 and no mark', Buffer.from(HEAD, 'utf16le').swap16(), /web\.yaml:1: .*UTF-16/],
  ['an alias bomb', `${HEAD}  config:\n${bomb.replaceAll(/^/gm, '    ')}`, /aliases stand for too much/],
  ['deep lists', `${HEAD}  config: {a: ${'['.repeat(60)}${']'.repeat(60)}}\n`, /nested more than 50 deep/],
  ['endless lists', `${HEAD}  config: {a: ${'['.repeat(100_000)}`, /does not parse|nested more than/],
  ['a key twice', `${HEAD}  mode: apply\n  mode: apply\n`, /web\.yaml:6: .*unique/],
  ['a merge of nothing', `${HEAD}  config: {<<: 5}\n`, /web\.yaml:1: .*does not parse: Merge sources/],
  ['an alias to itself', `${HEAD}  config: &a {a: *a}\n`, /web\.yaml:1: .*stands for what holds it/],
  [
    'a date of YAML 1.1',
    `%YAML 1.1\n---\n${HEAD}  config: {a: !!timestamp 2001-01-01}\n`,
    /web\.yaml:7: .*tag/,
  ],
  ['an unknown tag', `${HEAD}  config: {a: !secret b}\n`, /web\.yaml:5: .*tag/],
];

for (const [what, content, said] of HOSTILE) {
  test(`a file with ${what} is unreadable, and says so`, () => {
    const catalog = readCatalog([file('web.yaml', content)], NOW);
    assert.match(printCatalog(catalog), said);
    assert.match(printCatalog(catalog), /^unreadable web\.yaml \(Stack\)$/m);
    assert.deepEqual(catalog.stacks, []);
  });
}

test('the cost of a map follows the number of its keys', () => {
  // compared each with each, so many of them take minutes
  const keys = Array.from({ length: 40_000 }, (_, n) => `k${n}: 1\n`).join('');
  assert.deepEqual(readDocuments(keys).broken, []);
  assert.match(readDocuments(`${keys}k7: 2\n`).broken[0]?.text ?? '', /unique/);
});

test('a document with very many aliases is not read', () => {
  const text = Array.from({ length: 1_000 }, (_, n) => `- &a${n} x\n- *a${n}\n`).join('');
  assert.match(readDocuments(text).broken[0]?.text ?? '', /more than 200 aliases/);
});

const FOREIGN: readonly (readonly [what: string, content: string | Buffer])[] = [
  ['another group', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: {towline.dev/owner: me}}\n'],
  ['a template', '# not towline.dev\nname: {{ .Values.x }}\n{{- if .Values.y }}\n'],
  ['a template with our label', 'metadata: {labels: {towline.dev/x: y}}\n{{ end }}: [\n'],
  [
    'one of our manifests as text',
    `apiVersion: v1\nkind: ConfigMap\ndata:\n  web.yaml: |\n${HEAD.replaceAll(/^/gm, '    ')}`,
  ],
  ['2 MB of something else', 'x'.repeat(2_000_000)],
  ['bytes', Buffer.from([0xff, 0xfe, 0x00])],
  ['nothing', ''],
  ['a list', '- towline.dev/v1\n'],
];

for (const [what, content] of FOREIGN) {
  test(`a file with ${what} is none of our business`, () => {
    assert.equal(printCatalog(readCatalog([file('web.yaml', content)], NOW)), '');
  });
}

const KINDLESS: readonly (readonly [what: string, content: string])[] = [
  ['no kind', 'apiVersion: towline.dev/v1\nmetadata: {name: d}\nspec: {config: {a: b}}\n'],
  ['a kind of nothing', 'apiVersion: towline.dev/v1\nkind:\nmetadata: {name: d}\n'],
  ['an end before its kind', 'apiVersion: towline.dev/v1\n"'],
];

for (const [what, content] of KINDLESS) {
  test(`a document with ${what} may be what others are made of`, () => {
    const printed = printCatalog(readCatalog([file('web.yaml', content)], NOW));
    assert.match(printed, /^unreadable web\.yaml \(Cluster, Defaults\)$/m);
  });
}

test('a broken foreign document does not hide ours beside it', () => {
  const catalog = readCatalog([file('web.yaml', `apiVersion: v1\nx: [\n---\n${HEAD}`)], NOW);
  assert.equal(printCatalog(catalog), 'stack shop/web');
});

test('JSON has lines too', () => {
  const text =
    '{\n  "apiVersion": "towline.dev/v1",\n  "kind": "Stack",\n  "metadata": {"name": "web"},\n  "spec": {\n    "mod": 1\n  }\n}';
  assert.match(
    printCatalog(readCatalog([file('web.json', text)], NOW)),
    /^fleet:web\.json:6: .*did you mean “mode”/m,
  );
});

test('anchors, aliases and merge keys are followed, also for lines', () => {
  const [document] = readDocuments('a: &a\n  x: 1\n  y: 2\nb:\n  <<: *a\n  y: 3\nc: *a\n').documents;
  assert.deepEqual(document?.value, { a: { x: 1, y: 2 }, b: { x: 1, y: 3 }, c: { x: 1, y: 2 } });
  assert.equal(document?.lineAt(['c', 'x']), 2);
  assert.equal(document?.lineAt(['b', 'x']), 4);
  assert.equal(document?.lineAt(['b', 'y']), 6);
});

const NUMBERS: readonly (readonly [written: string, fault: boolean])[] = [
  ['1', false],
  ['-3', false],
  ['1.5', false],
  ['0123', true],
  ['1.0', true],
  ['1e3', true],
  ['0x10', true],
  ['12345678901234567890', true],
  ['.nan', true],
  ['"0123"', false],
];
for (const [written, fault] of NUMBERS) {
  test(`the number ${written} ${fault ? 'would lose its text' : 'is read as it stands'}`, () => {
    const [document] = readDocuments(`a: ${written}\n`).documents;
    assert.equal(document?.faults.length, fault ? 1 : 0);
  });
}

test('a file object is parsed once', () => {
  const files = [file('web.yaml', HEAD)];
  const first = readCatalog(files, NOW);
  assert.equal(readCatalog(files, NOW).stacks[0]?.written, first.stacks[0]?.written);
});
