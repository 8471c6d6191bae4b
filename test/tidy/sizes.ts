/** How large files and functions are. */
import ts from 'typescript';
import type { Finding } from './finding.ts';
import { lineOf, nodesOf, type Source } from './source.ts';

/** A measured thing. */
export interface Measure {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  readonly size: number;
}

/** How many of all may be how large. */
export interface Bar {
  /** 0.5 for the median, 0.9 for all but a tenth, 1 for every one. */
  readonly share: number;
  readonly atMost: number;
}

export const FILE_BARS: readonly Bar[] = [
  { share: 0.5, atMost: 100 },
  { share: 0.9, atMost: 200 },
  { share: 1, atMost: 400 },
];
/** One-line functions are left out of the count: they would make every share look good. */
export const FUNCTION_BARS: readonly Bar[] = [
  { share: 0.9, atMost: 25 },
  { share: 1, atMost: 60 },
];
export const PARAMETER_BARS: readonly Bar[] = [{ share: 1, atMost: 3 }];

/** For each bar that is missed, the things over it, the largest first. */
export function overBars(
  measures: readonly Measure[],
  bars: readonly Bar[],
  unit: string,
): readonly Finding[] {
  const sorted = [...measures].sort((a, b) => a.size - b.size);
  return bars.flatMap(({ share, atMost }) => {
    const at = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    if (at === undefined || at.size <= atMost) return [];
    const want = share === 1 ? `at most ${atMost}` : `${share * 100} % have at most ${atMost}`;
    return sorted
      .filter(({ size }) => size > atMost)
      .reverse()
      .map(({ path, line, name, size }) => ({
        path,
        line,
        message: `${name} has ${size} ${unit}, wanted: ${want}`,
      }));
  });
}

/** Lines of each file. */
export const fileSizes = (sources: readonly Source[]): readonly Measure[] =>
  sources.map(({ path, text }) => ({
    path,
    line: 0,
    name: 'the file',
    size: text.trimEnd().split('\n').length,
  }));

/** Lines of each function of more than one line, from its head to its last brace, with the functions inside it. */
export const functionSizes = (sources: readonly Source[]): readonly Measure[] =>
  sources.flatMap((source) => functionsOf(source).flatMap((node) => sizeOf(source, node)));

/** The same without functions that register tests: those are lists. */
export const testFunctionSizes = (sources: readonly Source[]): readonly Measure[] =>
  sources.flatMap((source) =>
    functionsOf(source)
      .filter((node) => !registersTests(node))
      .flatMap((node) => sizeOf(source, node)),
  );

function sizeOf(source: Source, node: ts.FunctionLikeDeclaration): readonly Measure[] {
  const size = lastLine(source, node) - lineOf(source.tree, node) + 1;
  return size > 1 ? [{ ...describe(source, node), size }] : [];
}

/** Parameters of each function. */
export const parameterCounts = (sources: readonly Source[]): readonly Measure[] =>
  sources.flatMap((source) =>
    functionsOf(source).map((node) => ({ ...describe(source, node), size: node.parameters.length })),
  );

function functionsOf({ tree }: Source): readonly ts.FunctionLikeDeclaration[] {
  return [...nodesOf(tree)].filter(
    (node): node is ts.FunctionLikeDeclaration => ts.isFunctionLike(node) && 'body' in node,
  );
}

const registersTests = (node: ts.Node): boolean =>
  [...nodesOf(node)].some(
    (one) => ts.isCallExpression(one) && /^(test|t\.test|it|describe)$/.test(one.expression.getText()),
  );

const lastLine = ({ tree }: Source, node: ts.Node): number =>
  tree.getLineAndCharacterOfPosition(node.getEnd()).line + 1;

function describe({ path, tree }: Source, node: ts.FunctionLikeDeclaration): Omit<Measure, 'size'> {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return { path, line: lineOf(tree, node), name: named?.getText(tree) ?? 'a function' };
}
