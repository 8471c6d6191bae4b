/** How the inputs of a project are inferred, by its runtime. */
import type { Infer } from './infer.ts';
import { wholeLockfile } from './whole.ts';

const RUNTIMES: Readonly<Record<string, Infer>> = {};

/** What a project reads besides its folder. */
export const infer: Infer = (project, view) => (RUNTIMES[project.runtime] ?? wholeLockfile)(project, view);
