// Runs that a call names: each once, and all of them there.

import type { Grouped } from '../report/side-by-side.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';

export function knownRuns({ lab }: Context, runs: readonly number[]): number[] {
  const missing = runs.filter((run) => !lab.store.runs.has(run));
  if (missing.length > 0) {
    throw new CallFailure(
      'not-found',
      `There is no run ${missing.join(', ')}.`,
      'It may have been deleted: remove it from the comparison or restore it.',
    );
  }
  return [...new Set(runs)];
}

export function groupsOfKnown(context: Context, groups: readonly Grouped[]): readonly Grouped[] {
  knownRuns(
    context,
    groups.flatMap(({ runs }) => runs),
  );
  return groups;
}
