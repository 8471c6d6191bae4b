import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'smol-toml';
import { cutPyproject } from '../../../hub/lockfiles/pyproject.ts';

const ROOT = `
[project]
name = "root"
version = "1.0"

[dependency-groups]
dev = ["tool"]

[tool.uv]
constraint-dependencies = ["leaf<3"]

[tool.uv.workspace]
members = ["apps/*", "libs/*"]
exclude = ["libs/old"]

[tool.uv.sources]
Some_Lib = { workspace = true }
other = { path = "other" }

[tool.ruff]
line-length = 100
`;
const CUT = {
  folder: 'apps/s',
  slice: { workspaces: ['libs/some', 'libs/deep'], packages: new Set(['some-lib', 'tool']) },
};

const tables = (text: string): Readonly<Record<string, unknown>> =>
  JSON.parse(JSON.stringify(parse(text))) as Readonly<Record<string, unknown>>;

test('the root keeps what uv reads, with the members and sources that are there', () => {
  assert.deepEqual(tables(cutPyproject(ROOT, CUT)), {
    project: { name: 'root', version: '1.0' },
    'dependency-groups': { dev: ['tool'] },
    tool: {
      uv: {
        'constraint-dependencies': ['leaf<3'],
        workspace: { members: ['apps/s', 'libs/deep', 'libs/some'], exclude: ['libs/old'] },
        sources: { Some_Lib: { workspace: true } },
      },
    },
  });
});

test('settings of a linter and members that are not there change nothing', () => {
  const other = ROOT.replace('= 100', '= 120').replace('"libs/*"', '"libs/*", "more/*"');
  assert.equal(cutPyproject(other, CUT), cutPyproject(ROOT, CUT));
});

test('a root that is built keeps the tables of its tools', () => {
  const built = `${ROOT}\n[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n`;
  const { tool, 'build-system': system } = tables(cutPyproject(built, CUT));
  assert.deepEqual(Object.keys(tool as object), ['uv', 'ruff']);
  assert.deepEqual(system, { requires: ['hatchling'], 'build-backend': 'hatchling.build' });
});

test('what is no TOML stays as it is', () => {
  assert.equal(cutPyproject('[project\n', CUT), '[project\n');
});
