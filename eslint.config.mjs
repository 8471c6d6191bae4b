import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What node:test starts belongs to the runner, so nobody has to wait for it. */
const runnerCalls = [{ from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite'] }];

const rules = {
  '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: runnerCalls }],
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
  '@typescript-eslint/no-import-type-side-effects': 'error',
  '@typescript-eslint/prefer-readonly': 'error',
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  // Interfaces of edges are async by contract, whatever one implementation needs.
  '@typescript-eslint/require-await': 'off',
  // Objects here are closures without `this`, and taking them apart is fine.
  '@typescript-eslint/unbound-method': 'off',
  'max-params': ['error', 3],
  'max-depth': ['error', 3],
  'no-console': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  eqeqeq: 'error',
};

export default defineConfig(
  { ignores: ['node_modules/', 'dist/', '.towline/', 'deploy/local/demo/port/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    // A rule holds everywhere or is changed here, where a reviewer sees it.
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' },
    rules,
  },
);
