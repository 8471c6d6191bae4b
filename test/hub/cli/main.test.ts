import assert from 'node:assert/strict';
import { join, relative } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { entryPoints } from '../../../deploy/build.ts';
import { entries } from '../../../hub/cli/main.ts';
import { runTowline, root } from './run.ts';

const table: readonly { args: readonly string[]; code: number; prints: RegExp }[] = [
  { args: ['--help'], code: 0, prints: /^Usage: towline.*hub.*agent.*local/s },
  { args: ['--version'], code: 0, prints: /^\d+\.\d+\.\d+\n$/ },
  { args: [], code: 2, prints: /^Usage: towline/ },
  { args: ['loca'], code: 2, prints: /unknown command 'loca'\n\(Did you mean local\?\)/ },
  { args: ['quite-different'], code: 2, prints: /unknown command 'quite-different'\n\(see towline --help\)/ },
  { args: ['--json'], code: 2, prints: /unknown option '--json'/ },
];
for (const { args, code, prints } of table)
  test(`towline ${args.join(' ')} exits with ${code}`, async () => {
    const result = await runTowline(args);
    assert.equal(result.code, code);
    assert.match(result.output, prints);
  });

test('every command has the entry point of its bundle', () => {
  const base = new URL('hub/cli/main.ts', `file://${root}/`);
  const sources = entries.map(({ name, source }) => [
    name,
    relative(root, fileURLToPath(new URL(source, base))),
  ]);
  const { towline, gitworker: _gitworker, ...others } = entryPoints;
  assert.deepEqual(Object.fromEntries(sources), others);
  assert.equal(join(root, towline), fileURLToPath(base));
});
