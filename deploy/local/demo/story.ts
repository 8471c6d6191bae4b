/** What the demo prints about each commit and at the end. Pure. */
import type { Line } from '../lines.ts';
import { orderedBy, type CommitFigures, type CommitRow } from '../standing.ts';
import { differences, expected, type Step } from './script.ts';

export interface Told {
  readonly step: Step;
  readonly commit: CommitRow;
  readonly figures: CommitFigures;
}

const SHORT_SHA = 7;

/** Told when a commit was made: `2/6 04d727b Correct the tide table`. */
export function titleLine(sha: string, step: Step, steps: readonly Step[]): Line {
  const number = `${steps.indexOf(step) + 1}/${steps.length}`;
  return { text: `${number} ${sha.slice(0, SHORT_SHA)} ${step.subject}`, tone: 'plain' };
}

/** Told when it is done: why it ran what it ran, its figures, and what is not as scripted. */
export function commitLines({ step, commit, figures }: Told): readonly Line[] {
  const { orders, runs, succeeded, failed, unchanged, seconds } = figures;
  const wrong = differences(expected(step), figures);
  return [
    ...reasonLines(commit).map((text): Line => ({ text: `  ${text}`, tone: 'plain' })),
    {
      text:
        `  ${plural(orders, 'order')}, ${plural(runs, 'run')}: ${succeeded} succeeded, ${failed} failed; ` +
        `${unchanged} unchanged; ${seconds.toFixed(1)} s`,
      tone: wrong.length > 0 ? 'bad' : 'good',
    },
    ...wrong.map((text): Line => ({ text: `  not as scripted: ${text}`, tone: 'bad' })),
    { text: '', tone: 'plain' },
  ];
}

/** `port/tides on harbour, quay: …`, one line for each stack and reason. */
function reasonLines(commit: CommitRow): readonly string[] {
  const groups = Map.groupBy(
    orderedBy(commit),
    ({ namespace, name, reasons }) => `${namespace}/${name}\n${reasons.join('; ')}`,
  );
  const lines = [...groups].map(([key, decisions]) => {
    const [name, reasons] = key.split('\n');
    return `why ${name} on ${decisions.map(({ cluster }) => cluster).join(', ')}: ${reasons}`;
  });
  return lines.length > 0 ? lines : ['nothing to run: no input of any stack changed'];
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

export interface Result {
  readonly commits: readonly CommitFigures[];
  readonly clusters: number;
  readonly lost: number;
  readonly repeated: number;
}

/** Whether everything came out as scripted. */
export const asScripted = (steps: readonly Step[], { commits, lost, repeated }: Result): boolean =>
  lost === 0 &&
  repeated === 0 &&
  commits.length === steps.length &&
  steps.every((step, n) => {
    const figures = commits[n];
    return figures !== undefined && differences(expected(step), figures).length === 0;
  });

/** The last line. */
export function closingLine(steps: readonly Step[], result: Result): Line {
  const { commits, clusters, lost, repeated } = result;
  const good = asScripted(steps, result);
  return {
    text:
      `${plural(commits.length, 'commit')} to ${plural(clusters, 'cluster')}, lost ${lost}, repeated ${repeated}: ` +
      (good ? 'everything came out as scripted' : 'not everything came out as scripted'),
    tone: good ? 'good' : 'bad',
  };
}
