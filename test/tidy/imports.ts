/** Who may import whom. */
import type { Finding } from './finding.ts';
import type { Import, Source } from './source.ts';

/** Part of the project → parts that it may import beside itself. Tests may import everything. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  hub: ['shared', 'crds'],
  agent: ['shared', 'crds'],
  deploy: ['shared', 'crds'],
  crds: [],
  shared: [],
};

/** Parts see only the parts below them; hub and agent never see each other. */
export const layers = (sources: readonly Source[]): readonly Finding[] =>
  eachImport(sources, ({ path }, { target, ours }) => {
    const [from, to] = [partOf(path), partOf(target)];
    const allowed = MAY_IMPORT[from];
    if (!ours || allowed === undefined || from === to || target === 'package.json') return undefined;
    return allowed.includes(to) ? undefined : `${from} must not import ${to} (${target})`;
  });

/** One file owns the NATS client, so that its settings hold everywhere. */
export const broker = (sources: readonly Source[]): readonly Finding[] =>
  eachImport(sources, ({ path }, { target }) =>
    (target === 'nats' || target.startsWith('@nats-io/')) && path !== 'shared/nats.ts' && !isTest(path)
      ? `only shared/nats.ts imports the NATS client (${target})`
      : undefined,
  );

/**
 * The stages of the two pipelines, each a file or a folder of that name. They know each other's types only: values of
 * stages meet in the conductors poll.ts and reconcile.ts.
 */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  hub: ['catalog', 'resolve', 'inputs', 'digest', 'detect', 'plan', 'artifact', 'publish', 'collect', 'api'],
  agent: ['receive', 'admit', 'decide', 'workspace', 'pulumi', 'report'],
};

/** No stage imports a value of another stage. */
export const stages = (sources: readonly Source[]): readonly Finding[] =>
  eachImport(sources, ({ path }, { target, ours, typeOnly }) => {
    const [from, to] = [stageOf(path), stageOf(target)];
    if (!ours || typeOnly || from === undefined || to === undefined || from === to) return undefined;
    return `stage ${from} imports a value of stage ${to} (${target}): let the conductor pass it`;
  });

/** `hub/plan.ts` and `hub/plan/x.ts` belong to `hub/plan`. */
function stageOf(path: string): string | undefined {
  const [part, name] = path.replace(/\.ts$/, '').split('/');
  return part !== undefined && name !== undefined && STAGES[part]?.includes(name) === true
    ? `${part}/${name}`
    : undefined;
}

/** Files that import each other in a ring, types included. Each ring is named once. */
export function cycles(sources: readonly Source[]): readonly Finding[] {
  const graph = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ ours }) => ours).map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const found: Finding[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0)
      found.push({ path, line: 0, message: `ring of imports: ${[...trail.slice(start), path].join(' → ')}` });
    if (start >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

/** Files of ours that nothing leads to from the roots. */
export function unreachable(sources: readonly Source[], roots: readonly string[]): readonly Finding[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const open = [...roots];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    open.push(...(byPath.get(path)?.imports ?? []).filter(({ ours }) => ours).map(({ target }) => target));
  }
  return sources
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => ({ path, line: 0, message: 'no entry point leads to this file' }));
}

/** First folder of a path. */
const partOf = (path: string): string => path.split('/')[0] ?? '';

/** Is this a test, or something that only tests use? */
export const isTest = (path: string): boolean => partOf(path) === 'test';

type Judge = (source: Source, imported: Import) => string | undefined;

function eachImport(sources: readonly Source[], judge: Judge): readonly Finding[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((imported) => {
      const message = judge(source, imported);
      return message === undefined ? [] : [{ path: source.path, line: imported.line, message }];
    }),
  );
}
