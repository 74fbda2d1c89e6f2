// Calls that put runs side by side: the comparison part by part, curves, the report.

import type { compareCalls } from '../../preload/contract/compare.ts';
import type { Difference } from '../config/overrides.ts';
import { placedCurve } from '../report/axes.ts';
import { armProfiles, scoredArms, TAUS } from '../report/profiles.ts';
import {
  allSettings,
  armBudgets,
  comparedArms,
  comparedPairs,
  type Grouped,
  openingComparison,
  taskMatrix,
} from '../report/side-by-side.ts';
import type { Context } from './context.ts';
import type { Handlers } from './dispatch.ts';
import { createReports } from './report.ts';
import { groupsOfKnown, knownRuns } from './known.ts';
import { plain } from './runs.ts';
import { inSlices } from '../base/slices.ts';

export function compareHandlers(context: Context): Handlers<typeof compareCalls> {
  const known = (runs: readonly number[]): number[] => knownRuns(context, runs);
  const knownGroups = (groups: readonly Grouped[]): readonly Grouped[] => groupsOfKnown(context, groups);
  const reports = createReports(context);
  return {
    'compare.open': async ({ runs }) => {
      compared.add(context);
      const { diff, ...rest } = await inSlices(openingComparison(context.lab.store, known(runs)));
      return { ...rest, diff: diff.map(plainSetting) };
    },

    'compare.arms': ({ groups, baseline }) => comparedArms(context.lab.store, knownGroups(groups), baseline),

    'compare.pairs': ({ pairs }) => {
      known(pairs.flat());
      return comparedPairs(context.lab.store, pairs);
    },

    'compare.tasks': ({ runs }) => ({ matrix: taskMatrix(context.lab.store, known(runs)) }),

    'compare.budgets': ({ groups }) => armBudgets(context.lab.store, knownGroups(groups)),

    'compare.settings': ({ runs }) => ({
      settings: allSettings(context.lab.store, known(runs)).map((setting) => ({ ...plainSetting(setting), differs: setting.differs })),
    }),

    'compare.profiles': ({ groups }) => {
      const { worlds, profiles } = armProfiles(scoredArms(context.lab.store, knownGroups(groups)));
      return { worlds, taus: [...TAUS], profiles };
    },

    'compare.curves': ({ runs, name, axis, points }) => ({
      curves: known(runs).map((run) => placedCurve(context.lab.store, run, name, axis, points)),
    }),

    'report.export': async (wanted) => ({ written: await reports.export({ ...wanted, runs: known(wanted.runs) }) }),

    'report.cancel': () => {
      reports.cancel();
      return {};
    },

    'report.open': async () => {
      await reports.open();
      return {};
    },
  };
}

/** So many of the newest runs. */
const REHEARSED = 100;
/** Contexts whose pages have compared something. */
const compared = new WeakSet<Context>();

/**
 * Compares the newest runs for nobody, until somebody compares some: the first comparison then finds its code compiled, and its
 * configs, worlds and results read.
 */
export async function rehearseComparison(context: Context): Promise<void> {
  const { store } = context.lab;
  await inSlices(whileNotCompared(context, openingComparison(store, store.runs.newestDone(REHEARSED))));
}

function* whileNotCompared(context: Context, work: Generator): Generator<void, void, void> {
  while (!compared.has(context) && work.next().done !== true) yield;
}

const plainSetting = ({ key, values }: Difference) => ({
  key,
  values: values.map((value) => (value === undefined ? undefined : plain(value))),
});
