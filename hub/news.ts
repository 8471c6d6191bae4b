/** Tells the log what is wrong with manifests and repositories: once when it appears, once when it is gone. */
import type { Log } from '../shared/log.ts';
import type { Problem } from './catalog/catalog.ts';
import type { SourceState, SourceView } from './git/source.ts';
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
  const states = new Map<string, SourceState>();
  return {
    problems: (problems) => {
      const now = new Map(problems.map((problem) => [withoutShapes(printProblem(problem)), problem]));
      for (const [line, { severity }] of now)
        if (!told.has(line)) log[severity === 'error' ? 'error' : 'warn'](line);
      for (const line of told) if (!now.has(line)) log.info(`no longer: ${line}`);
      told = new Set(now.keys());
    },
    sources: (views) => {
      for (const { name, state, driver, message } of views) {
        if (states.get(name) === state) continue;
        states.set(name, state);
        if (state === 'Hydrating') continue;
        const by = driver === undefined ? '' : `, read by the ${driver} driver`;
        const why = message === undefined ? '' : `: ${withoutShapes(message)}`;
        log[state === 'Ready' ? 'info' : 'error'](`repository ${name} is ${state}${by}${why}`);
      }
    },
  };
}
