/** The story of the demo: six commits, and what each of them must start. Pure. */

/** Clusters that each stack of the sample selects. */
export const PLACEMENTS: Readonly<Record<string, readonly string[]>> = {
  tides: ['harbour', 'quay'],
  lights: ['harbour'],
  berths: ['harbour', 'quay'],
  notices: ['harbour', 'quay'],
};

/** Replaces the one place where `from` stands. */
export interface Edit {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

export interface Step {
  readonly subject: string;
  readonly edits: readonly Edit[];
  /** Stacks that must run, on each of their clusters. */
  readonly runs: readonly string[];
  readonly outcome: 'succeeded' | 'failed';
}

const SETTING = { path: 'apps/berths/index.ts', right: "require('folder')", wrong: "require('foldr')" };

export const STEPS: readonly Step[] = [
  { subject: 'Open the port', edits: [], runs: Object.keys(PLACEMENTS), outcome: 'succeeded' },
  {
    subject: 'Correct the tide table',
    edits: [{ path: 'stacks/tides/Pulumi.yaml', from: '06:20 and 18:45', to: '06:50 and 19:15' }],
    runs: ['tides'],
    outcome: 'succeeded',
  },
  {
    subject: 'Give all signs a new heading',
    edits: [{ path: 'apps/library/sign.ts', from: '== PORT ==', to: '~~ PORT ~~' }],
    runs: ['berths', 'notices'],
    outcome: 'succeeded',
  },
  {
    subject: 'Explain where to begin',
    edits: [{ path: 'README.md', from: 'Change something', to: 'Begin with the tides: change something' }],
    runs: [],
    outcome: 'succeeded',
  },
  {
    subject: 'Shorten the name of a setting',
    edits: [{ path: SETTING.path, from: SETTING.right, to: SETTING.wrong }],
    runs: ['berths'],
    outcome: 'failed',
  },
  {
    subject: 'Give the setting its name back',
    edits: [{ path: SETTING.path, from: SETTING.wrong, to: SETTING.right }],
    runs: ['berths'],
    outcome: 'succeeded',
  },
];

/** Figures of a commit that the script fixes. */
export interface Figures {
  readonly orders: number;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unchanged: number;
}

const all = Object.values(PLACEMENTS).flat().length;

/** What must come of a step. */
export function expected({ runs, outcome }: Step): Figures {
  const orders = runs.flatMap((stack) => PLACEMENTS[stack] ?? []).length;
  return {
    orders,
    runs: orders,
    succeeded: outcome === 'succeeded' ? orders : 0,
    failed: outcome === 'failed' ? orders : 0,
    unchanged: all - orders,
  };
}

/** What came out otherwise than scripted, in words; empty when all is well. */
export function differences(wanted: Figures, found: Figures): readonly string[] {
  return (Object.keys(wanted) as (keyof Figures)[])
    .filter((name) => wanted[name] !== found[name])
    .map((name) => `${name} should be ${wanted[name]}, not ${found[name]}`);
}

/** The changed text. Throws when `from` stands there never or twice: script and sample would have come apart. */
export function applyEdit(text: string, { path, from, to }: Edit): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`“${from}” stands ${parts.length - 1} times in ${path}, not once`);
  return parts.join(to);
}
