/** A TypeScript file as the rules see it. */
import { posix } from 'node:path';
import ts from 'typescript';

export interface Source {
  /** From the root of the project, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

export interface Import {
  /** The path of a file of ours, or the name of a package or of a module of Node.js. */
  readonly target: string;
  readonly ours: boolean;
  /** Nothing of it is left at run time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** Parses a file; what it refers to need not exist. */
export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, text, tree, imports: importsOf(path, tree) };
}

/** Every node below, depth first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) {
    yield child;
    yield* nodesOf(child);
  }
}

/** Line on which a node starts, counted from 1. */
export const lineOf = (tree: ts.SourceFile, node: ts.Node): number =>
  tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;

function importsOf(path: string, tree: ts.SourceFile): readonly Import[] {
  return [...nodesOf(tree)].flatMap((node) => {
    const reference = referenceIn(node);
    if (reference === undefined) return [];
    const ours = reference.specifier.startsWith('.');
    const target = ours
      ? posix.normalize(posix.join(posix.dirname(path), reference.specifier))
      : reference.specifier;
    return [{ target, ours, typeOnly: reference.typeOnly, line: lineOf(tree, node) }];
  });
}

interface Reference {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** `import … from 'x'`, `export … from 'x'`, `import('x')`, `new URL('./x', import.meta.url)` */
function referenceIn(node: ts.Node): Reference | undefined {
  if (ts.isImportDeclaration(node)) return literal(node.moduleSpecifier, isTypeImport(node));
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
    return literal(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return literal(node.argument.literal, true);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return literal(node.arguments[0], false);
  if (ts.isNewExpression(node) && /^new URL\([^,]+, import\.meta\.url\)$/.test(node.getText()))
    return literal(node.arguments?.[0], false);
  return undefined;
}

function literal(node: ts.Node | undefined, typeOnly: boolean): Reference | undefined {
  return node !== undefined && ts.isStringLiteral(node) ? { specifier: node.text, typeOnly } : undefined;
}

function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = importClause;
  return (
    name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.length > 0 &&
    namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}
