/** The operator's page says what the code says. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSettings } from '../../agent/config.ts';
import { authSchema } from '../../hub/git/auth.ts';
import { hubSettings } from '../../hub/config.ts';
import { DRIVER_NAMES, SOURCE_STATES } from '../../hub/git/source.ts';
import { flagOf, type Setting, type Settings } from '../../shared/config.ts';
import { FAILURE_CLASSES, PHASES, REASON_CODES } from '../../shared/outcome.ts';
import { codesIn, readPage, sectionOf, tableOf } from './page.ts';

const page = readPage('operations.md');

const lists: readonly [string, readonly string[]][] = [
  ['### Phases', PHASES],
  ['### Drivers', DRIVER_NAMES],
  ['### States of a repository', SOURCE_STATES],
  ['## Reason codes', REASON_CODES],
  ['## Failure classes', FAILURE_CLASSES],
];

for (const [heading, names] of lists) {
  test(`${heading.replace(/#+ /, '')}: all are explained, and no others`, () => {
    const rows = tableOf(sectionOf(page, heading));
    assert.deepEqual(
      rows.map(([name = '']) => codesIn(name)[0]),
      names,
    );
    for (const [name, meaning = ''] of rows) assert.ok(meaning.length > 0, name);
  });
}

/** The sources of hub and agent as one text. */
function sources(): string {
  const root = new URL('../../', import.meta.url).pathname;
  return ['hub', 'agent']
    .flatMap((part) =>
      readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts'))
        .map((path) => readFileSync(join(root, part, path), 'utf8')),
    )
    .join('\n');
}

test('the page tells the codes that this version gives from those of later ones', () => {
  const text = sources();
  for (const [name = '', meaning, remedy = ''] of tableOf(sectionOf(page, '## Reason codes'))) {
    const [code = ''] = codesIn(name);
    const isLater = meaning === '_later_';
    if (isLater) assert.ok(!text.includes(`code: '${code}'`), `${code} is given by now: explain it`);
    else assert.ok(text.includes(`'${code}'`), `${code} is never given: mark it`);
    assert.equal(remedy === '', isLater, code);
  }
});

function rowOf([name, setting]: readonly [string, Setting]): readonly string[] {
  const { env, type, unit, doc } = setting;
  return [`\`--${flagOf(name)}\``, `\`${env}\``, unit ?? type, defaultOf(setting), doc];
}

function defaultOf({ default: value, optional }: Setting): string {
  if (value === undefined) return optional === true ? '' : 'required';
  const values = [value].flat().map(String);
  return values.length === 0 ? 'none' : values.map((one) => `\`${one}\``).join(', ');
}

const settings: readonly [string, Settings][] = [
  ['### Settings of the hub', hubSettings],
  ['### Settings of the agent', agentSettings],
];

for (const [heading, table] of settings) {
  test(`${heading.replace(/#+ /, '')}: the table is that of --help`, () => {
    const wanted = Object.entries(table).map(rowOf);
    const print = (rows: readonly (readonly string[])[]): string =>
      rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`).join('');
    assert.equal(print(tableOf(sectionOf(page, heading))), print(wanted));
  });
}

test('what auth of a repository may say is explained, and nothing else', () => {
  const rows = tableOf(sectionOf(page, '### Credentials of a repository'));
  assert.deepEqual(
    rows.map(([name = '']) => codesIn(name)[0]),
    Object.keys(authSchema.shape),
  );
});
