/** How a run is carried out when a test does not care. */
import type { RunPolicy } from '../../shared/wire.ts';

export const plainPolicy: RunPolicy = {
  create: 'ifMissing',
  pendingCreates: 'hold',
  timeoutMs: 3_600_000,
  parallel: 16,
  continueOnError: false,
  message: '',
  weight: 1,
  priority: 0,
  labels: {},
  annotations: {},
};
