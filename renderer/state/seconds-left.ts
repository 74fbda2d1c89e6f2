// How long a run still trains. No React in here.

import type { RunRow } from '../../main/lab/features/runs.ts';

/** From its speed lately, else from that of all its updates; null before the first. */
export function secondsLeft({ updates, planned, seconds, pace }: Pick<RunRow, 'updates' | 'planned' | 'seconds' | 'pace'>): number | null {
  const perUpdate = pace ?? (updates > 0 && seconds > 0 ? seconds / updates : null);
  return perUpdate === null ? null : (planned - updates) * perUpdate;
}
