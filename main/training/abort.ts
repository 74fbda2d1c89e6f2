// How a run is ended from outside: its signal is aborted, and the work under way throws the signal's reason between two batches.

/** Whether work ended because the signal was aborted. */
export const isAbort = (error: unknown, signal: AbortSignal): boolean => signal.aborted && error === signal.reason;

/** For work that nobody ends early. */
export const neverAborted = (): AbortSignal => new AbortController().signal;
