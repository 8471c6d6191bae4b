/** The hub as the one who is asked: it polls the repository, and has planned what ran last when it sees what is asked. */
import { makeBenchHub } from '../hub.ts';
import type { Told } from './ask.ts';
import { moveMain } from './fleet.ts';
import type { Question } from './tools.ts';

export interface Resident {
  /** Takes the time from the moment at which the branch has moved. The commits of the question are two. */
  ask(question: Question): Promise<Told>;
  close(): Promise<void>;
}

/** `folder` is for what it keeps on disk. */
export async function makeResident(repository: string, folder: string): Promise<Resident> {
  const hub = await makeBenchHub(repository, folder);
  let at = '';
  const moveTo = async (commit: string): Promise<void> => {
    await moveMain(repository, commit);
    at = commit;
  };
  return {
    async ask({ from, to }) {
      if (at !== from) {
        await moveTo(from);
        await hub.run();
      }
      await moveTo(to);
      const { toldAfter, stacks } = await hub.run();
      return { seconds: toldAfter, answer: { kind: 'names', names: stacks } };
    },
    close: () => hub.close(),
  };
}
