/** Tells the log what is wrong with manifests and repositories: once when it appears, once when it is gone. */
import type { Log } from '../shared/log.ts';
import type { Problem } from './catalog/catalog.ts';
import type { SourceView } from './git/source.ts';
import { printProblem } from './problem.ts';
import { withoutShapes } from './shapes.ts';

export interface News {
  /** Everything that the newest pass found wrong. */
  problems(problems: readonly Problem[]): void;
  sources(views: readonly SourceView[]): void;
}

/** Remembers what was told. A hub that starts again tells everything anew. */
export function makeNews(log: Log): News {
  let told: ReadonlySet<string> = new Set();
  const known = new Map<string, SourceView>();
  return {
    problems: (problems) => {
      const now = new Map(problems.map((problem) => [withoutShapes(printProblem(problem)), problem]));
      for (const [line, { severity }] of now)
        if (!told.has(line)) log[severity === 'error' ? 'error' : 'warn'](line);
      for (const line of told) if (!now.has(line)) log.info(`no longer: ${line}`);
      told = new Set(now.keys());
    },
    sources: (views) => {
      for (const view of views) {
        const before = known.get(view.name);
        known.set(view.name, view);
        tellState(log, view, before);
        tellEvents(log, view, before);
      }
    },
  };
}

function tellState(log: Log, view: SourceView, before: SourceView | undefined): void {
  const { name, state, driver, message } = view;
  if (before?.state === state || state === 'Hydrating') return;
  const by = driver === undefined || state !== 'Ready' ? '' : `, read by the ${driver} driver`;
  const why = message === undefined ? '' : `: ${withoutShapes(message)}`;
  log[state === 'Ready' ? 'info' : 'error'](`repository ${name} is ${state}${by}${why}`);
}

/** What a state alone does not show. */
function tellEvents(log: Log, view: SourceView, before: SourceView | undefined): void {
  const { name, ref, moved, mended } = view;
  if (mended !== undefined && mended.at !== before?.mended?.at)
    log.warn(`repository ${name} was damaged and is read anew: ${withoutShapes(mended.damage)}`);
  if (moved === undefined || moved.at === before?.moved?.at) return;
  const from = `${moved.from} to ${moved.to}`;
  if (moved.descends === 'no') log.warn(`repository ${name}: ${ref} was rewritten, from ${from}`);
  if (moved.descends === 'unknown')
    log.info(`repository ${name}: ${ref} moved from ${from}; whether it was rewritten is not known`);
}
