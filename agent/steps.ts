/** Points between a commit and its report at which an agent may die; the crash tests stop at every one of them. */

/** In the order in which a placement passes them. */
export const AGENT_STEPS = [
  'orderRecorded',
  'orderAcked',
  'preparing',
  'prepared',
  'gated',
  'attemptRecorded',
  'gone',
  'finished',
  'resultRecorded',
  'reportSent',
  'cleaned',
] as const;
export type AgentStep = (typeof AGENT_STEPS)[number];

/** Called at each step; the step is over when it resolves. */
export type AtStep = (step: AgentStep) => void | Promise<void>;

/** Nobody listens. */
export const atNothing: AtStep = () => undefined;
