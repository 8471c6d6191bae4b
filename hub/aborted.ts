/** A signal as a promise. */

/** Resolves when the signal is aborted, or is so already. */
export const whenAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
