// How a run is ended from outside: its signal is aborted, and the work under way throws the signal's reason between two batches.

import type { Poll } from '../engine/runtime/training-step.ts';

/** Whether work ended because the signal was aborted. */
export const isAbort = (error: unknown, signal: AbortSignal): boolean => signal.aborted && error === signal.reason;

/** For work that nobody ends early. */
export const neverAborted = (): AbortSignal => new AbortController().signal;

/** For the engine, which awaits it before every batch. */
export const pollOf =
  (signal: AbortSignal): Poll =>
  async () =>
    signal.throwIfAborted();
