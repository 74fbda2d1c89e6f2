// Runs that a call names: each once, and all of them there.

import type { Grouped } from '../report/side-by-side.ts';
import type { Store } from '../store/store.ts';
import { CallFailure } from './definition.ts';

export function existingRun(store: Store, run: number): number {
  if (store.runs.find(run)) return run;
  throw new CallFailure('not-found', `There is no run ${run}.`, 'It may have been deleted for good; the page Runs lists what there is.');
}

export function existingRuns(store: Store, runs: readonly number[]): number[] {
  const missing = runs.filter((run) => !store.runs.has(run));
  if (missing.length > 0) {
    throw new CallFailure(
      'not-found',
      `There is no run ${missing.join(', ')}.`,
      'It may have been deleted: remove it from the comparison or restore it.',
    );
  }
  return [...new Set(runs)];
}

/** The groups themselves, once all their runs are there. */
export function existingGroups(store: Store, groups: readonly Grouped[]): readonly Grouped[] {
  existingRuns(
    store,
    groups.flatMap(({ runs }) => runs),
  );
  return groups;
}
