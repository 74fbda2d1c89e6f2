// Calls that put runs side by side, part by part as they come into view: the runs, arms, pairs, tasks, budgets, settings, curves.

import { z } from 'zod';
import { curveAxes } from '../../base/vocabulary.ts';
import type { Difference } from '../../config/overrides.ts';
import { placedCurve } from '../../report/axes.ts';
import { armProfiles, scoredArms, TAUS } from '../../report/profiles.ts';
import { arm, armPair, comparedRun, matrix, pair } from '../../report/schema.ts';
import { allSettings, armBudgets, comparedArms, comparedPairs, openComparison, taskMatrix } from '../../report/side-by-side.ts';
import type { Handlers, Reads } from '../definition.ts';
import { existingGroups, existingRuns } from '../existing.ts';
import { plain } from '../plain.ts';

export type { ComparedArm, ComparedPair, ComparedRun, Matrix, Pair } from '../../report/schema.ts';

const run = z.int().min(1);
const runs = z.array(run).min(1).max(400);
const numbers = z.instanceof(Float64Array);
const json = z.json();

/** Runs that are shown as one. */
export const groups = z
  .array(z.strictObject({ key: z.string().max(400), runs: z.array(run).min(1) }))
  .min(1)
  .max(400);

const budget = z.object({
  episodes: z.number(),
  optimizerSteps: z.number(),
  tokens: z.number(),
  vstarSamples: z.number(),
  branchEpisodes: z.number(),
});

export const calls = {
  'compare.open': {
    input: z.strictObject({ runs }),
    answer: z.object({
      runs: z.array(comparedRun),
      /** What keeps the runs from being compared with each other: then nothing is the best of all. */
      mismatches: z.array(z.object({ what: z.string(), words: z.string() })),
      /** Only the keys that differ; one value per run, undefined where the run has no such key. */
      diff: z.array(z.object({ key: z.string(), values: z.array(json.optional()) })),
      /** Metrics that at least one of the runs recorded. */
      metrics: z.array(z.string()),
    }),
  },
  /** Arms, and each against the baseline arm. */
  'compare.arms': {
    input: z.strictObject({ groups, baseline: z.string().max(400) }),
    answer: z.object({ arms: z.array(arm), pairs: z.array(armPair) }),
  },
  /** Single runs, two and two, task by task. */
  'compare.pairs': {
    input: z.strictObject({ pairs: z.array(z.tuple([run, run])).max(400) }),
    answer: z.object({ paired: z.array(pair), words: z.array(z.string()) }),
  },
  /** Who solved which task. */
  'compare.tasks': { input: z.strictObject({ runs }), answer: z.object({ matrix }) },
  /** What a run of each arm spent on average, and in words where that is not equal. */
  'compare.budgets': {
    input: z.strictObject({ groups }),
    answer: z.object({ budgets: z.array(budget.extend({ key: z.string() })), unequal: z.array(z.string()) }),
  },
  /** Every setting, also those that are equal. */
  'compare.settings': {
    input: z.strictObject({ runs }),
    answer: z.object({ settings: z.array(z.object({ key: z.string(), values: z.array(json.optional()), differs: z.boolean() })) }),
  },
  /** Share of an arm's runs in all worlds whose success is above τ, with a bootstrap band; only of arms that ran in several worlds. */
  'compare.profiles': {
    input: z.strictObject({ groups }),
    answer: z.object({
      worlds: z.array(z.string()),
      taus: z.array(z.number()),
      profiles: z.array(
        z.object({ key: z.string(), n: z.number(), value: z.array(z.number()), low: z.array(z.number()), high: z.array(z.number()) }),
      ),
    }),
  },
  /** A metric of every run; `evaluation.success` is validation success. `x` is where the update lies on the axis. */
  'compare.curves': {
    input: z.strictObject({ runs, name: z.string().max(100), axis: z.enum(curveAxes), points: z.int().min(10).max(5000) }),
    answer: z.object({ curves: z.array(z.object({ run, updates: numbers, x: numbers, y: numbers })) }),
  },
};

export const reads = {
  'compare.open': (store, { runs: ids }) => {
    const { diff, ...rest } = openComparison(store, existingRuns(store, ids));
    return { ...rest, diff: diff.map(plainSetting) };
  },

  'compare.arms': (store, { groups: arms, baseline }) => comparedArms(store, existingGroups(store, arms), baseline),

  'compare.pairs': (store, { pairs }) => {
    existingRuns(store, pairs.flat());
    return comparedPairs(store, pairs);
  },

  'compare.tasks': (store, { runs: ids }) => ({ matrix: taskMatrix(store, existingRuns(store, ids)) }),

  'compare.budgets': (store, { groups: arms }) => armBudgets(store, existingGroups(store, arms)),

  'compare.settings': (store, { runs: ids }) => ({
    settings: allSettings(store, existingRuns(store, ids)).map((setting) => ({ ...plainSetting(setting), differs: setting.differs })),
  }),

  'compare.profiles': (store, { groups: arms }) => {
    const { worlds, profiles } = armProfiles(scoredArms(store, existingGroups(store, arms)));
    return { worlds, taus: [...TAUS], profiles };
  },

  'compare.curves': (store, { runs: ids, name, axis, points }) => ({
    curves: existingRuns(store, ids).map((id) => placedCurve(store, id, name, axis, points)),
  }),
} satisfies Reads<typeof calls>;

/** All of it is reading. */
export const handlers = (): Handlers<Omit<typeof calls, keyof typeof reads>> => ({});

const plainSetting = ({ key, values }: Difference) => ({
  key,
  values: values.map((value) => (value === undefined ? undefined : plain(value))),
});
