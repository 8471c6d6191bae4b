/** What commits to a large repository cost. */
import '../../../hub/lean.ts';
import { join } from 'node:path';
import { commitTo, folderOfStack, type Edit } from './estate.ts';
import type { Cost, Scale } from './figures.ts';
import { makeBenchHub, type Passed } from './hub.ts';
import { summaryOf } from '../statistics.ts';

/** Commits to one stack; the median counts. */
const ONE_STACK_COMMITS = 5;
const FILES = 5_000;

const edit = (path: string, n: number): Edit => ({ path, content: `export const changed = ${n};\n` });

/** Measures a repository of so many stacks; in a process of its own, the memory is that of the hub alone. */
export async function measureCommits(folder: string, stacks: number): Promise<Omit<Scale, 'floorSeconds'>> {
  const repository = join(folder, 'repository.git');
  const hub = await makeBenchHub(repository, join(folder, 'mirrors'));
  /** One commit, seen by one pass. */
  const see = async (subject: string, edits: readonly Edit[]): Promise<Passed> => {
    await commitTo(repository, subject, edits);
    return hub.run();
  };
  await hub.run();
  const ones: Passed[] = [];
  for (let n = 0; n < ONE_STACK_COMMITS; n++)
    ones.push(await see('one stack', [edit(`${folderOfStack(n)}/src/a.ts`, n)]));
  const library = await see('a library', [edit('libs/shared/index.ts', 1)]);
  const touched = Array.from({ length: Math.min(stacks, FILES / 2) }, (_, n) =>
    folderOfStack(stacks - 1 - n),
  );
  const many = await see(
    'many files',
    touched.flatMap((path) => [edit(`${path}/src/a.ts`, 9), edit(`${path}/src/b.ts`, 9)]),
  );
  hub.forget();
  const full = await hub.run();
  await hub.close();
  if (full.orders > 0) throw new Error(`${full.orders} orders although nothing had changed`);
  return {
    oneStack: {
      orders: Math.max(...ones.map(({ orders }) => orders)),
      seconds: summaryOf(ones.map(({ plannedAfter }) => plannedAfter)).median,
    },
    library100: costOf(library),
    files5000: costOf(many),
    full: { seconds: full.plannedAfter },
    rssMiB: process.resourceUsage().maxRSS / 1024,
  };
}

const costOf = ({ orders, plannedAfter }: Passed): Cost => ({ orders, seconds: plannedAfter });
