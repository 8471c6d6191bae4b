/** What a Node.js project installs from the repository. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { found, stack, type Tree } from './found.ts';

/** A repository of npm workspaces; `a` is the project's package. */
const workspaces = (a: object, more: Tree = {}, root: object = {}): Tree =>
  stack('', {
    'package.json': { name: 'root', workspaces: ['stacks/*', 'libs/*'], ...root },
    'package-lock.json': 'not one that can be cut',
    'stacks/a/package.json': { name: 'a', ...a },
    'libs/x/package.json': { name: '@acme/x' },
    'libs/x/x.ts': '',
    'libs/y/package.json': { name: '@acme/y' },
    'libs/z/package.json': { name: '@acme/z' },
    ...more,
  });

const WHOLE = ['package-lock.json', 'package.json'];

describe('packages of the repository', () => {
  const rows: Readonly<Record<string, { tree: Tree; folders: string[]; files?: string[] }>> = {
    'a workspace': { tree: workspaces({ dependencies: { '@acme/x': '*' } }), folders: ['libs/x'] },
    'workspaces of workspaces, of every field': {
      tree: workspaces(
        { devDependencies: { '@acme/x': '^1.0.0' } },
        {
          'libs/x/package.json': { name: '@acme/x', peerDependencies: { '@acme/y': '*' } },
          'libs/y/package.json': { name: '@acme/y', optionalDependencies: { '@acme/z': '*' } },
        },
      ),
      folders: ['libs/x', 'libs/y', 'libs/z'],
    },
    'workspaces in a ring': {
      tree: workspaces(
        { dependencies: { '@acme/x': '*' } },
        {
          'libs/x/package.json': { name: '@acme/x', dependencies: { '@acme/y': '*', a: '*' } },
          'libs/y/package.json': { name: '@acme/y', devDependencies: { '@acme/x': '*' } },
        },
      ),
      folders: ['libs/x', 'libs/y'],
    },
    'a workspace of the root': {
      tree: workspaces({}, {}, { devDependencies: { '@acme/y': '*' } }),
      folders: ['libs/y'],
    },
    'a folder': {
      tree: workspaces({ dependencies: { v: 'file:../../vendor/v' } }, { 'vendor/v/index.js': '' }),
      folders: ['vendor/v'],
    },
    'a folder of a folder': {
      tree: workspaces(
        { dependencies: { v: 'link:../../vendor/v' } },
        { 'vendor/v/package.json': { dependencies: { w: '../w' } }, 'vendor/w/index.js': '' },
      ),
      folders: ['vendor/v', 'vendor/w'],
    },
    'an archive': {
      tree: workspaces(
        { dependencies: { v: 'file:../../vendor/v-1.0.0.tgz' } },
        { 'vendor/v-1.0.0.tgz': '' },
      ),
      folders: [],
      files: ['vendor/v-1.0.0.tgz'],
    },
    'a patched package': {
      tree: workspaces(
        { dependencies: { v: 'patch:v@npm%3A1.0.0#~/.yarn/patches/v.patch' } },
        { '.yarn/patches/v.patch': '' },
      ),
      folders: [],
      files: ['.yarn/patches/v.patch'],
    },
    'patches of patch-package': {
      tree: workspaces({}, { 'patches/v+1.0.0.patch': '' }, { devDependencies: { 'patch-package': '*' } }),
      folders: [],
      files: ['patches/v+1.0.0.patch'],
    },
    'patches and overrides, where the lockfile is taken whole': {
      tree: workspaces(
        {},
        { 'patches/p.patch': '', 'vendor/v/index.js': '' },
        {
          patchedDependencies: { 'p@1.0.0': 'patches/p.patch' },
          overrides: { v: { '.': 'file:./vendor/v', w: '^1.0.0' } },
        },
      ),
      folders: ['vendor/v'],
      files: ['patches/p.patch'],
    },
    'what sources of packages import from elsewhere': {
      tree: workspaces(
        { dependencies: { '@acme/x': '*' } },
        {
          'libs/x/x.ts': `import "../../more/m"; readFileSync("../../data.json")`,
          'more/m.ts': '',
          'data.json': '',
        },
      ),
      folders: ['libs/x'],
      files: ['data.json', 'more/m.ts'],
    },
    'a tsconfig in a package': {
      tree: workspaces(
        { dependencies: { '@acme/x': '*' } },
        {
          'stacks/a/tsconfig.json': { extends: '@acme/x/base' },
          'libs/x/base.json': { extends: '../../more.json' },
          'more.json': '{}',
        },
      ),
      folders: ['libs/x'],
      files: ['more.json'],
    },
  };
  for (const [name, { tree, folders, files = [] }] of Object.entries(rows))
    it(`bring ${name}`, () => {
      const seen = found(tree);
      assert.deepEqual(
        { files: seen.files, folders: seen.folders, problems: seen.problems },
        { files: [...WHOLE, ...files].sort(), folders, problems: [] },
      );
    });

  it('that are used and not declared come along, and are named', () => {
    const tree = workspaces(
      {},
      {
        'stacks/a/y.ts': `import { x } from "@acme/x/sub"`,
        'libs/x/package.json': { name: '@acme/x', dependencies: { '@acme/y': '*' } },
      },
    );
    const seen = found(tree);
    assert.deepEqual(seen.folders, ['libs/x', 'libs/y']);
    assert.match(seen.warnings.join('\n'), /stacks\/a\/y\.ts imports @acme\/x, which no package\.json/);
  });
  it('that are built need run.build', () => {
    const seen = found(
      workspaces(
        { dependencies: { '@acme/x': '*' } },
        { 'libs/x/package.json': { name: '@acme/x', exports: { '.': './dist/x.js', './*': './dist/*.js' } } },
      ),
    );
    assert.match(
      seen.warnings.join('\n'),
      /libs\/x\/package\.json has an entry point, but no commit has libs\/x\/dist\/x\.js; for a built file: add run\.build/,
    );
    assert.doesNotMatch(seen.warnings.join('\n'), /\*/);
  });
  const problems: Readonly<Record<string, { tree: Tree; says: RegExp }>> = {
    'a workspace that is not there': {
      tree: workspaces({ dependencies: { '@acme/gone': 'workspace:*' } }),
      says: /stacks\/a\/package\.json depends on @acme\/gone .*no workspace of the repository is named @acme\/gone: add its folder/,
    },
    'a folder that is not there': {
      tree: workspaces({ dependencies: { v: 'file:../../vendor' } }),
      says: /stacks\/a\/package\.json depends on v \(file:\.\.\/\.\.\/vendor\), but the commit has no vendor: commit it/,
    },
    'a folder outside of the repository': {
      tree: workspaces({ dependencies: { v: 'file:../../../v' } }),
      says: /depends on v .*outside of the repository/,
    },
    'two workspaces of a name': {
      tree: workspaces({ dependencies: { '@acme/x': '*' } }, { 'libs/y/package.json': { name: '@acme/x' } }),
      says: /two workspaces are named @acme\/x: libs\/x and libs\/y; give one/,
    },
    'a package.json that is not JSON': {
      tree: workspaces(
        { dependencies: { '@acme/x': '*' } },
        { 'libs/x/package.json': '{"name": "@acme/x",}' },
      ),
      says: /^$/,
    },
    'its own package.json that is not JSON': {
      tree: { ...workspaces({}), 'stacks/a/package.json': '{"name": }' },
      says: /stacks\/a\/package\.json is not JSON .*: mend it/,
    },
    'a package.json that is too large': {
      tree: { ...workspaces({}), 'stacks/a/package.json': `{"name": "${'x'.repeat(5_000_000)}"}` },
      says: /stacks\/a\/package\.json has \d+ bytes/,
    },
  };
  for (const [name, { tree, says }] of Object.entries(problems))
    it(`are refused: ${name}`, () => {
      assert.match(found(tree).problems.join('\n'), says);
    });
  it('that may be missing are not missed', () => {
    const seen = found(workspaces({ optionalDependencies: { v: 'file:../../vendor' } }));
    assert.deepEqual(seen.problems, []);
  });
});

describe('workspaces', () => {
  const rows: Readonly<Record<string, { root: object; more?: Tree; found: boolean }>> = {
    'by a folder': { root: { workspaces: ['libs/x'] }, found: true },
    'by a map': { root: { workspaces: { packages: ['./libs/*/'] } }, found: true },
    'by any depth': { root: { workspaces: ['**'] }, found: true },
    'by braces': { root: { workspaces: ['{apps,libs}/*'] }, found: true },
    'not by another folder': { root: { workspaces: ['lib/*', 'libs', 'libs/*/*'] }, found: false },
    'not where one is taken away': { root: { workspaces: ['libs/*', '!libs/x'] }, found: false },
    'but for npm again where one is added after it': {
      root: { workspaces: ['libs/*', '!libs/*', 'libs/x'] },
      found: true,
    },
    'not for yarn': {
      root: { workspaces: ['libs/*', '!libs/*', 'libs/x'] },
      more: { 'yarn.lock': 'x', 'package-lock.json': '' },
      found: false,
    },
    'by pnpm-workspace.yaml': {
      root: { workspaces: ['none/*'], packageManager: 'pnpm@11.0.0' },
      more: { 'pnpm-lock.yaml': '', 'pnpm-workspace.yaml': 'packages:\n  - "libs/**"\n  - "!**/y"\n' },
      found: true,
    },
    'not by package.json for pnpm': {
      root: { workspaces: ['libs/*'], packageManager: 'pnpm@11.0.0' },
      more: { 'pnpm-lock.yaml': '' },
      found: false,
    },
  };
  for (const [name, row] of Object.entries(rows))
    it(`are named ${name}`, () => {
      const more = row.more ?? {};
      const root = 'yarn.lock' in more ? { ...row.root, packageManager: 'yarn@4.0.0' } : row.root;
      const { folders } = found(workspaces({ dependencies: { '@acme/x': '*' } }, more, root));
      assert.deepEqual(folders, row.found ? ['libs/x'] : []);
    });
  it('below a project come with it, with what they depend on', () => {
    const tree: Tree = {
      'Pulumi.yaml': 'name: p\nruntime: nodejs\n',
      'index.ts': '',
      'package.json': { workspaces: ['packages/*', 'stacks/*'] },
      'package-lock.json': '',
      'packages/v/package.json': { name: 'v', dependencies: { b: '*' } },
      'stacks/b/Pulumi.yaml': '',
      'stacks/b/package.json': { name: 'b' },
      'stacks/c/Pulumi.yaml': '',
      'stacks/c/package.json': { name: 'c' },
    };
    assert.deepEqual(found(tree, '.').folders, ['stacks/b']);
  });
  it('with patterns that nothing could follow are a problem', () => {
    const seen = found(workspaces({}, {}, { workspaces: ['+(+(a))/*', '../x', '**/**/**/**', 'libs/*'] }));
    assert.equal(seen.problems.length, 3);
    assert.match(
      seen.problems.join('\n'),
      /the workspaces of the repository have the pattern “\+\(\+\(a\)\)\/\*”/,
    );
  });
});

describe('the folder of the lockfile', () => {
  const one = { 'stacks/a/package.json': { name: 'a' } };
  const rows: Readonly<Record<string, { tree: Tree; files: string[] }>> = {
    'is the nearest one': {
      tree: { ...one, 'package-lock.json': '', 'stacks/bun.lock': '', 'stacks/package.json': '{}' },
      files: ['stacks/a/package.json', 'stacks/bun.lock', 'stacks/package.json'],
    },
    'is where one of an unknown manager lies': {
      tree: { ...one, 'bun.lockb': '' },
      files: ['bun.lockb', 'stacks/a/package.json'],
    },
    'holds one of npm that goes before another': {
      tree: { ...one, 'package-lock.json': '', 'npm-shrinkwrap.json': '' },
      files: ['npm-shrinkwrap.json', 'stacks/a/package.json'],
    },
    'holds that of the package manager that is named': {
      tree: {
        ...one,
        'package.json': { packageManager: 'bun@1.3.0' },
        'package-lock.json': '',
        'bun.lock': '',
      },
      files: ['bun.lock', 'package.json', 'stacks/a/package.json'],
    },
    'brings settings, and each package.json between': {
      tree: {
        ...one,
        'package.json': '{}',
        'stacks/package.json': '{}',
        'bun.lock': '',
        '.npmrc': '',
        'stacks/.npmrc': '',
        '.yarnrc': '',
        '.yarnrc.yml': '',
        '.pnpmfile.cjs': `require("./tools/p")`,
        'tools/p.js': '',
        'pnpm-workspace.yaml': '',
      },
      files: [
        '.npmrc',
        '.pnpmfile.cjs',
        '.yarnrc',
        '.yarnrc.yml',
        'bun.lock',
        'package.json',
        'pnpm-workspace.yaml',
        'stacks/.npmrc',
        'stacks/a/package.json',
        'stacks/package.json',
        'tools/p.js',
      ],
    },
  };
  for (const [name, { tree, files }] of Object.entries(rows))
    it(name, () => {
      const seen = found(stack('', tree));
      assert.deepEqual(
        seen.files,
        files.filter((file) => !file.startsWith('stacks/a/')),
      );
      assert.deepEqual(
        seen.warnings.filter((text) => !text.includes('is taken whole')),
        [],
      );
    });
  it('brings yarn with its plugins', () => {
    const seen = found(
      stack('', {
        ...one,
        'bun.lock': '',
        '.yarn/releases/yarn-4.cjs': '(',
        '.yarn/plugins/p.cjs': '',
        '.yarn/cache/x.zip': '',
      }),
    );
    assert.deepEqual(seen.folders, ['.yarn/plugins', '.yarn/releases']);
  });
  it('with two lockfiles brings both, and says so', () => {
    const seen = found(stack('', { ...one, 'pnpm-lock.yaml': '', 'bun.lock': '' }));
    assert.deepEqual(seen.files, ['bun.lock', 'pnpm-lock.yaml']);
    assert.match(
      seen.warnings.join('\n'),
      /pnpm-lock\.yaml and bun\.lock stand beside each other: delete one, or name the package manager/,
    );
  });
});

describe('packages that are imported', () => {
  const lines = (seen: { readonly warnings: readonly string[] }): string => seen.warnings.join('\n');
  it('and that nothing declares are named with their file', () => {
    const tree = {
      'stacks/a/package.json': { dependencies: { '@pulumi/pulumi': '*', '@types/k': '*' } },
      'stacks/a/y.ts': `import "@pulumi/pulumi/asset"; import "lodash/fp"; import "k"; import "node:fs"; import "os"; import "./z"; require("../../libs/x")`,
      'stacks/a/z.ts': `import "lodash"`,
      'libs/x.js': `require("left-pad")`,
    };
    const seen = found(stack('', tree));
    assert.deepEqual(
      seen.warnings.map((text) => text.split(',')[0]),
      ['libs/x.js imports left-pad', 'stacks/a/y.ts imports lodash'],
    );
  });
  it('and that the root declares are fine', () => {
    const tree = workspaces(
      {},
      { 'stacks/a/y.ts': `import "lodash"; import "a";` },
      { dependencies: { lodash: '*' } },
    );
    assert.doesNotMatch(lines(found(tree)), / imports /);
  });
  it('without any package.json are not looked for', () => {
    assert.equal(lines(found(stack(`import "lodash"`))), '');
  });
});
