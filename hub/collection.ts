/** Takes artifacts off the broker that nothing refers to any more. Only the leader does, between two of its passes. */
import type { Log } from '../shared/log.ts';
import type { Jets } from '../shared/nats.ts';
import type { Board } from './board.ts';
import type { Book } from './book.ts';
import { lookAtArtifacts, usedArtifacts, type UnusedSince } from './unused.ts';
import { listArtifacts, purgeArtifact } from './upload.ts';

/** Time between two looks, ms. */
const LOOK_MS = 60 * 60 * 1_000;

export interface CollectionParts {
  readonly jets: Jets;
  readonly book: Book;
  readonly board: () => Board;
  readonly log: Log;
}

/**
 * Call it between passes: a look is taken when one is due. While a pass runs, an artifact may be found on the broker and
 * its order not be published yet; that is why nothing else may call it.
 */
export function makeCollection({ jets, book, board, log }: CollectionParts): (now: number) => Promise<void> {
  let before: UnusedSince = new Map();
  let lookedAt = -Infinity;
  return async (now) => {
    if (!book.loaded || now - lookedAt < LOOK_MS) return;
    lookedAt = now;
    const used = usedArtifacts(book.inForce.values(), board().reports.values());
    const look = lookAtArtifacts(await listArtifacts(jets), used, { before, now });
    before = look.since;
    for (const name of look.expired) await purgeArtifact(jets, name);
    if (look.expired.length > 0)
      log.info({ artifacts: look.expired.length }, 'unused artifacts were removed');
  };
}
