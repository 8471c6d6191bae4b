/** What no source file contains. */
import ts from 'typescript';
import type { Finding } from './finding.ts';
import { isTest } from './imports.ts';
import { lineOf, nodesOf, type Source } from './source.ts';

/** The type that switches checking off. */
export const anyTypes = (sources: readonly Source[]): readonly Finding[] =>
  eachNode(sources, (node) => (node.kind === ts.SyntaxKind.AnyKeyword ? 'the type any' : undefined));

/** Tests replace what is passed in, never a module behind the back of the code. */
export const moduleMocks = (sources: readonly Source[]): readonly Finding[] =>
  eachNode(sources, (node) =>
    ts.isPropertyAccessExpression(node) && /^mock\.module$/.test(lastTwo(node))
      ? 'a mocked module'
      : undefined,
  );

/** A process reads its environment and command line in one place, and passes on what it means. */
export const environmentReads = (sources: readonly Source[]): readonly Finding[] =>
  eachNode(sources, (node, { path }) => {
    if (!ts.isPropertyAccessExpression(node) || isTest(path) || READS_ENVIRONMENT.test(path))
      return undefined;
    const text = node.getText();
    return text === 'process.env' || text === 'process.argv' ? `${text} outside an entry point` : undefined;
  });

const READS_ENVIRONMENT = /^(hub\/main|agent\/main|deploy\/\w+\/main|hub\/cli\/.+)\.ts$/;

/** A test that does not run, or that keeps the others from running. */
export const switchedOffTests = (sources: readonly Source[]): readonly Finding[] =>
  eachNode(sources, (node, { path }) =>
    ts.isPropertyAccessExpression(node) &&
    isTest(path) &&
    /^(test|it|describe|suite)\.(only|skip|todo)$/.test(node.getText())
      ? node.getText()
      : undefined,
  );

/** Files say what they hold. */
export const names = (sources: readonly Source[]): readonly Finding[] =>
  sources
    .filter(({ path }) => /(^|[/-])(utils?|types|helpers?|common|misc|index|service|manager)\.ts$/.test(path))
    .map(({ path }) => ({ path, line: 0, message: 'a name that says nothing' }));

/** A file that only passes on what other files export hides where things are. */
export const barrels = (sources: readonly Source[]): readonly Finding[] =>
  sources
    .filter(
      ({ tree }) =>
        tree.statements.length > 0 &&
        tree.statements.every((one) => ts.isExportDeclaration(one) && one.moduleSpecifier !== undefined),
    )
    .map(({ path }) => ({ path, line: 0, message: 'the file only passes on exports' }));

/** Exported functions and classes of the product that no comment explains. Data explains itself by its fields. */
export const undocumented = (sources: readonly Source[]): readonly Finding[] =>
  sources
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, tree }) =>
      tree.statements
        .filter((one) => isExported(one) && doesSomething(one))
        .filter((one) => ts.getJSDocCommentsAndTags(one).length === 0)
        .map((one) => ({ path, line: lineOf(tree, one), message: 'an export without a comment' })),
    );

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const doesSomething = (node: ts.Statement): boolean =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  (ts.isVariableStatement(node) &&
    node.declarationList.declarations.some(
      ({ initializer }) => initializer !== undefined && ts.isFunctionLike(initializer),
    ));

const lastTwo = (node: ts.PropertyAccessExpression): string => node.getText().split('.').slice(-2).join('.');

type Judge = (node: ts.Node, source: Source) => string | undefined;

function eachNode(sources: readonly Source[], judge: Judge): readonly Finding[] {
  return sources.flatMap((source) =>
    [...nodesOf(source.tree)].flatMap((node) => {
      const message = judge(node, source);
      return message === undefined ? [] : [{ path: source.path, line: lineOf(source.tree, node), message }];
    }),
  );
}
