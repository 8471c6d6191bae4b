/** Node.js programs of all kinds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check, found, stack } from './found.ts';

const X = { 'libs/x.ts': '' };

describe('the program', () => {
  check({
    'outside of the project folder is read as well': {
      tree: {
        'stacks/a/Pulumi.yaml': 'name: a\nruntime: nodejs\nmain: ../../apps/a/\n',
        'apps/a/index.ts': `import "../../libs/x"; readFileSync("../data.json")`,
        'apps/data.json': '',
        ...X,
      },
      files: ['apps/data.json', 'libs/x.ts'],
      folders: ['apps/a'],
    },
    'in JavaScript needs no package.json': {
      tree: { 'stacks/a/index.js': `const x = require("../../libs/x.js"); return x;`, 'libs/x.js': '' },
      files: ['libs/x.js'],
    },
    'in JavaScript may have types of Flow or of TypeScript': {
      tree: {
        'stacks/a/y.js': `// @flow\nimport type { X } from "../../libs/x"; const f = (a: ?string): X => a;`,
        'stacks/a/z.js': `import "../../libs/z"; enum E { A } const e = <any>E;`,
        ...X,
        'libs/z.ts': '',
      },
      files: ['libs/x.ts', 'libs/z.ts'],
    },
    'may use decorators, assertions of types, JSX and what is newer': {
      program: `@sealed class A { @f accessor x = 1; }\nconst b = <any>"x"; using c = d();\nimport y from "../../libs/y.json" with { type: "json" };`,
      tree: {
        'stacks/a/v.tsx': `const v = <T,>(x: T) => <div>{x}</div>; import "../../libs/x";`,
        ...X,
        'libs/y.json': '',
      },
      files: ['libs/x.ts', 'libs/y.json'],
    },
  });
  it('that cannot be read holds nothing up, and is named', () => {
    const seen = found(
      stack(`import "../../libs/x"; const = ;`, {
        'stacks/a/y.ts': `import "../../libs/y"`,
        'libs/y.ts': '',
        ...X,
      }),
    );
    assert.ok(seen.files.includes('libs/y.ts'));
    assert.match(seen.warnings.join('\n'), /stacks\/a\/index\.ts cannot be read as a program/);
  });
  it('with mistakes that can be passed over is read with them', () => {
    const seen = found(stack(`import "../../libs/x"; let a; let a;`, X));
    assert.deepEqual(seen.files, ['libs/x.ts']);
  });
  it('that is nested without end is named', () => {
    const seen = found(stack('('.repeat(100_000)));
    assert.match(seen.warnings.join('\n'), /stacks\/a\/index\.ts cannot be read as a program/);
  });
  it('that imports what is not in the repository is named', () => {
    const seen = found(
      stack(
        `import "../../../x"; import "./gen/client"; new FileArchive("./dist"); import "../../vendor/x";`,
        { vendor: '-> libs' },
      ),
    );
    assert.deepEqual(seen.files, ['vendor']);
    assert.deepEqual(seen.warnings, [
      'stacks/a/index.ts imports ../../../x, which is outside of the repository',
      'stacks/a/index.ts imports ./gen/client, but no commit has stacks/a/gen/client; for a built file: add run.build',
      'stacks/a/index.ts imports through the symlink vendor: name in include what is imported behind it from other folders',
      'stacks/a/index.ts reads dist, but no commit has stacks/a/dist; for a built file: add run.build',
    ]);
  });
  it('that asks first whether a file is there may find none', () => {
    const seen = found(stack(`const x = existsSync("x.json") ? readFileSync("x.json") : "";`));
    assert.deepEqual(seen.warnings, []);
  });
  for (const [name, tree] of Object.entries({
    'main of Pulumi.yaml': { 'stacks/a/Pulumi.yaml': 'name: a\nruntime: nodejs\nmain: dist/index.js\n' },
    'main of package.json': { 'stacks/a/package.json': { main: 'dist/index.js' } },
  }))
    it(`that is built, by ${name}, needs run.build`, () => {
      const seen = found(stack('', tree));
      assert.match(
        seen.warnings.join('\n'),
        /no commit has stacks\/a\/dist\/index\.js; for a built file: add run\.build/,
      );
    });
});
