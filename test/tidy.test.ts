/** The rules of the house, on all of it. Each rule is shown to fail on a planted example beside it, in tidy/. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { entryPoints } from '../deploy/build.ts';
import { textOf, type Finding } from './tidy/finding.ts';
import { broker, cycles, isTest, layers, stages, unreachable } from './tidy/imports.ts';
import {
  anyTypes,
  barrels,
  environmentReads,
  moduleMocks,
  names,
  switchedOffTests,
  undocumented,
} from './tidy/language.ts';
import { SAMPLES, WORLD } from './tidy/layout.ts';
import {
  FILE_BARS,
  fileSizes,
  FUNCTION_BARS,
  functionSizes,
  overBars,
  PARAMETER_BARS,
  parameterCounts,
  testFunctionSizes,
} from './tidy/sizes.ts';
import { parseSource } from './tidy/source.ts';
import { readTracked } from './tidy/tracked.ts';
import { forbiddenWords } from './tidy/words.ts';
import { idleEntries, worldAccess } from './tidy/world.ts';

const texts = await readTracked(join(import.meta.dirname, '..'));
const all = texts
  .filter(({ path }) => path.endsWith('.ts') && !SAMPLES.test(path))
  .map(({ path, text }) => parseSource(path, text));
const product = all.filter(({ path }) => !isTest(path));
const tests = all.filter(({ path }) => isTest(path));

const scripts = Object.values(manifest.scripts).flatMap((line) => /^node (\S+\.ts)$/.exec(line)?.[1] ?? []);
const testFiles = tests.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));

/** Name → what the rule finds in this project. */
const rules: Readonly<Record<string, () => readonly Finding[]>> = {
  'parts import only the parts below them': () => layers(all),
  'only one file imports the NATS client': () => broker(all),
  'stages know only the types of other stages': () => stages(all),
  'no files import each other in a ring': () => cycles(all),
  'an entry point leads to every file of the product': () =>
    unreachable(product, [...Object.values(entryPoints), ...scripts]),
  'a test leads to every file of the tests': () => unreachable(tests, [...testFiles, ...scripts]),
  'files are short': () => overBars(fileSizes(product), FILE_BARS, 'lines'),
  'files of tests are not long': () => overBars(fileSizes(tests), FILE_BARS.slice(-1), 'lines'),
  'functions are short': () => overBars(functionSizes(product), FUNCTION_BARS, 'lines'),
  'functions of tests are not long': () =>
    overBars(testFunctionSizes(tests), FUNCTION_BARS.slice(-1), 'lines'),
  'functions have few parameters': () => overBars(parameterCounts(all), PARAMETER_BARS, 'parameters'),
  'nothing has the type any': () => anyTypes(all),
  'no module is mocked': () => moduleMocks(all),
  'no test is switched off': () => switchedOffTests(all),
  'only entry points read the environment': () => environmentReads(all),
  'only files marked I/O touch the world': () => worldAccess(all, WORLD),
  'file names say what is inside': () => names(all),
  'no file only passes on exports': () => barrels(all),
  'every exported function is explained': () => undocumented(all),
  'no text says what it should not': () => forbiddenWords(texts),
};

for (const [name, find] of Object.entries(rules))
  test(name, () => {
    const found = find().map(textOf);
    assert.ok(found.length === 0, found.join('\n'));
  });

test('the list of files that touch the world has no idle entry', () =>
  assert.deepEqual(idleEntries(product, WORLD), []));
