/** Which files touch the world: disk, network, processes, timers, clocks, chance. */
import ts from 'typescript';
import type { Finding } from './finding.ts';
import { isTest } from './imports.ts';
import { lineOf, nodesOf, type Source } from './source.ts';

const WORLD_MODULES =
  /^(node:(fs|fs\/promises|http|https|http2|net|tls|dns|dgram|child_process|timers|timers\/promises|worker_threads|readline)|fastify|isomorphic-git(\/.+)?|@kubernetes\/client-node|lowdb(\/.+)?)$/;
const WORLD_CALLS = /^(setTimeout|setInterval|setImmediate|fetch|Date\.now|performance\.now|Math\.random)$/;

/** Files outside the list that touch the world. They can be tested with tables only as long as they do not. */
export const worldAccess = (sources: readonly Source[], allowed: readonly string[]): readonly Finding[] =>
  sources
    .filter(({ path }) => !isTest(path) && !allowed.includes(path))
    .flatMap((source) => [...worldImports(source), ...worldCalls(source)]);

/** Entries of the list that touch nothing, or are not there any more. */
export const idleEntries = (sources: readonly Source[], allowed: readonly string[]): readonly string[] => {
  const needed = new Set(worldAccess(sources, []).map(({ path }) => path));
  return allowed.filter((path) => !needed.has(path));
};

function worldImports({ path, imports }: Source): readonly Finding[] {
  return imports
    .filter(({ target, typeOnly }) => !typeOnly && WORLD_MODULES.test(target))
    .map(({ target, line }) => ({ path, line, message: `${target} in a file that is not marked I/O` }));
}

function worldCalls({ path, tree }: Source): readonly Finding[] {
  return [...nodesOf(tree)].flatMap((node) => {
    const what = worldCall(node);
    return what === undefined
      ? []
      : [{ path, line: lineOf(tree, node), message: `${what} in a file that is not marked I/O` }];
  });
}

function worldCall(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length)
    return 'new Date()';
  if (!ts.isCallExpression(node)) return undefined;
  const called = node.expression.getText();
  return WORLD_CALLS.test(called) ? called : undefined;
}
