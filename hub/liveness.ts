/** Whether an agent is there, as a function of what was heard and of now. */
import type { Board } from './board.ts';

/**
 * `Online`: heard within the cluster's limit. `Offline`: silent for longer. `Unheard`: silent, and the hub has not
 * listened for long enough to blame the agent.
 */
export const AGENT_STATES = ['Online', 'Offline', 'Unheard'] as const;

export interface Liveness {
  readonly state: (typeof AGENT_STATES)[number];
  /** Online and Offline: the last sign of life, or else since when the hub listens for one. Unheard: since when it listens; 0 when it cannot. */
  readonly since: number;
}

/** `offlineAfterMs`: of the cluster. */
export function livenessOf(
  board: Board,
  cluster: string,
  at: { now: number; offlineAfterMs: number },
): Liveness {
  const heardAt = board.beats.get(cluster)?.heardAt;
  if (heardAt !== undefined && at.now - heardAt < at.offlineAfterMs)
    return { state: 'Online', since: heardAt };
  const listening = board.listeningSince;
  if (listening === undefined || at.now - listening < at.offlineAfterMs)
    return { state: 'Unheard', since: heardAt ?? listening ?? 0 };
  return { state: 'Offline', since: heardAt ?? listening };
}
