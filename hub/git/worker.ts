/** The thread in which Git is read without the git program: an entry point of its own. */
import { parentPort } from 'node:worker_threads';
import type { Answered, Call, Sent } from './calls.ts';
import { obtain } from './obtain.ts';
import { dropCache, readObject } from './readobject.ts';

const answerTo = (call: Call): Promise<Answered['answer']> =>
  call.op === 'read' ? readObject(call) : obtain(call).finally(dropCache);

parentPort?.on('message', ({ n, call }: Sent) => {
  void answerTo(call).then((answer) => {
    const answered: Answered = { n, answer };
    parentPort?.postMessage(answered);
  });
});
