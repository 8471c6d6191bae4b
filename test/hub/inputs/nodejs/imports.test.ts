/** Imports of a Node.js program. */
import { describe } from 'node:test';
import { check, type Row } from './found.ts';

const X = { 'libs/x.ts': '' };

const rows: Readonly<Record<string, Row>> = {
  'an import': { program: `import { x } from "../../libs/x";`, tree: X, files: ['libs/x.ts'] },
  'an import for its effect': { program: `import "../../libs/x";`, tree: X, files: ['libs/x.ts'] },
  'an import of a type': {
    program: `import type { X } from "../../libs/x";`,
    tree: X,
    files: ['libs/x.ts'],
  },
  'a type that is imported in place': {
    program: `let x: import("../../libs/x").X<number>;`,
    tree: X,
    files: ['libs/x.ts'],
  },
  'a re-export': { program: `export { x } from "../../libs/x";`, tree: X, files: ['libs/x.ts'] },
  'a re-export of everything': { program: `export * from "../../libs/x";`, tree: X, files: ['libs/x.ts'] },
  'a require': { program: `const x = require("../../libs/x");`, tree: X, files: ['libs/x.ts'] },
  'a require with a template': {
    program: 'const x = require(`../../libs/x`);',
    tree: X,
    files: ['libs/x.ts'],
  },
  'a require of TypeScript': {
    program: `import x = require("../../libs/x");`,
    tree: X,
    files: ['libs/x.ts'],
  },
  'a require.resolve': { program: `fork(require.resolve("../../libs/x"));`, tree: X, files: ['libs/x.ts'] },
  'a dynamic import': { program: `const x = await import("../../libs/x");`, tree: X, files: ['libs/x.ts'] },
  'a dynamic import of a constant': {
    program: `const at = "../../libs/x"; await import(at);`,
    tree: X,
    files: ['libs/x.ts'],
  },
  'a triple-slash reference': {
    program: `/// <reference path="../../libs/x.d.ts" />`,
    tree: { 'libs/x.d.ts': '' },
    files: ['libs/x.d.ts'],
  },
  'an import in a file below': {
    tree: { 'stacks/a/src/deep/y.ts': `import "../../../../libs/x";`, ...X },
    files: ['libs/x.ts'],
  },
  'an import of a nested project': {
    program: `import "./b/x";`,
    tree: { 'stacks/a/b/Pulumi.yaml': '', 'stacks/a/b/x.ts': '', 'stacks/a/b/y.ts': '' },
    files: ['stacks/a/b/x.ts'],
  },
  'imports of imports, in a ring': {
    program: `import "../../libs/x";`,
    tree: {
      'libs/x.ts': `import "./y.js";`,
      'libs/y.ts': `export * from "../more/z";`,
      'more/z.js': `require("../libs/x")`,
    },
    files: ['libs/x.ts', 'libs/y.ts', 'more/z.js'],
  },
  JSON: {
    program: `import x from "../../libs/x.json";`,
    tree: { 'libs/x.json': '{}' },
    files: ['libs/x.json'],
  },
  'a file of another kind': {
    program: `import x from "../../libs/x.sql?raw";`,
    tree: { 'libs/x.sql': '' },
    files: ['libs/x.sql'],
  },
  'nothing from imports that stay, from packages and from Node.js': {
    program: `import "./src/y"; import "node:fs"; import "fs/promises"; import * as pulumi from "@pulumi/pulumi";`,
    tree: { 'stacks/a/src/y.ts': '', ...X },
  },
  'nothing from comments and texts': {
    program: `// import "../../libs/x"\nconst text = 'import "../../libs/x"';`,
    tree: X,
  },
  'nothing from files of installed packages': {
    tree: { 'stacks/a/node_modules/y/index.js': `require("../../../../libs/x")`, ...X },
  },
};

describe('imports that leave the folder are inputs', () => {
  check(rows);
});
