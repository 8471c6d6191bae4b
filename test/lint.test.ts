/** The lint that `make check` runs finds what it is there for. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { ESLint } from 'eslint';

const root = join(import.meta.dirname, '..');
const eslint = new ESLint({ cwd: root });

/** Text that stands in for a file of the project, since types are known only for those. */
async function rulesBroken(text: string): Promise<readonly (string | null)[]> {
  const [result] = await eslint.lintText(text, { filePath: join(root, 'shared/limits.ts') });
  return (result?.messages ?? []).map(({ ruleId }) => ruleId);
}

const later = 'const later = async (): Promise<number> => 1;\n';
const planted: Readonly<Record<string, string>> = {
  '@typescript-eslint/no-floating-promises': `${later}later();`,
  '@typescript-eslint/no-misused-promises': `${later}if (later()) throw new Error();`,
  '@typescript-eslint/no-explicit-any': 'export const value: any = 1;',
  '@typescript-eslint/switch-exhaustiveness-check':
    "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 0;\n}",
  '@typescript-eslint/consistent-type-imports': "import { Stats } from 'node:fs';\nexport type S = Stats;",
  '@typescript-eslint/no-unused-vars': 'const unused = 1;',
  'max-params': 'export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;',
  'no-console': "console.log('x');",
};

for (const [rule, text] of Object.entries(planted))
  test(`lint finds ${rule}`, async () => assert.deepEqual(await rulesBroken(text), [rule]));

test('a comment does not switch a rule off', async () => {
  const comment = ['// eslint', 'disable-next-line @typescript-eslint/no-floating-promises'].join('-');
  const text = `${later}${comment}\nlater();`;
  assert.ok((await rulesBroken(text)).includes('@typescript-eslint/no-floating-promises'));
});

test('a promise that is waited for is fine', async () => {
  assert.deepEqual(await rulesBroken(`${later}await later();`), []);
});
