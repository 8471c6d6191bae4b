import assert from 'node:assert/strict';
import test from 'node:test';
import { requirementsParser } from '../../../../hub/inputs/python/requirements.ts';

const read = (text: string): unknown => requirementsParser.parse(Buffer.from(text));

const lines: readonly (readonly [line: string, files: readonly string[], paths: readonly string[]])[] = [
  ['pulumi>=3,<4  # the SDK', [], []],
  ['# -r other.txt', [], []],
  ['-r ../base.txt', ['../base.txt'], []],
  ['-r../base.txt', ['../base.txt'], []],
  ['--requirement=../base.txt', ['../base.txt'], []],
  ['-c ../constraints.txt', ['../constraints.txt'], []],
  ['-e ../lib', [], ['../lib']],
  ['--editable "../lib[extra]"', [], ['../lib']],
  ['-e ../lib#egg=lib', [], ['../lib']],
  ['../lib ; python_version > "3.8"', [], ['../lib']],
  ['./wheels/x-1.0-py3-none-any.whl --hash=sha256:aa', [], ['./wheels/x-1.0-py3-none-any.whl']],
  ['lib @ file:../lib', [], ['../lib']],
  ['lib[extra] @ file://../lib', [], ['../lib']],
  ['lib @ file:///${PROJECT_ROOT}/../lib', [], ['./../lib']],
  ['lib @ file:///opt/lib', [], []],
  ['lib @ https://registry.example/lib.whl', [], []],
  ['-e git+https://registry.example/lib.git#egg=lib', [], []],
  ['--find-links ../wheels', [], ['../wheels']],
  ['--index-url https://registry.example/simple', [], []],
  ['--hash=sha256:aa', [], []],
  ['lib \\\n  @ file:../lib', [], ['../lib']],
  ['lib @ file:../my%20lib', [], ['../my lib']],
];

for (const [line, files, paths] of lines)
  test(`the requirement ${JSON.stringify(line)} names ${[...files, ...paths].join() || 'nothing of the repository'}`, () =>
    assert.deepEqual(read(`\n${line}\r\n`), { kind: 'read', value: { files, paths } }));
