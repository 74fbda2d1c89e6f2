// How a task ended, as its process's exit code: after `saved` the batch script asks for a requeue.

export const EXIT = { done: 0, failed: 1, saved: 75 } as const;
