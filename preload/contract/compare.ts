// Calls that put runs side by side: one answer with everything the Compare page shows, curves of one metric, studies
// (named selections), and the report.

import { z } from 'zod';
import { verdicts, reportFormats } from '../../main/base/vocabulary.ts';
import { anyNumber, nothing, proportion } from './definition.ts';

const run = z.int().min(1);
const runs = z.array(run).min(1).max(400);
const numbers = z.instanceof(Float64Array);
const json = z.json();

const estimate = z.object({ value: anyNumber, low: anyNumber, high: anyNumber });

const comparedRun = z.object({
  run,
  name: z.string(),
  variant: z.string(),
  world: z.string(),
  seed: z.number(),
  state: z.string(),
  updates: z.number(),
  planned: z.number(),
  seconds: z.number(),
  episodes: z.number(),
  success: proportion.nullable(),
  best: proportion.extend({ update: z.number() }).nullable(),
  /** What the run started from, on the same tasks where it was evaluated there. */
  reference: proportion.nullable(),
  return: anyNumber.nullable(),
  steps: anyNumber.nullable(),
  /** Where the numbers come from: which evaluation. */
  evaluated: z.object({ update: z.number(), split: z.string(), kind: z.string() }).nullable(),
  categories: z.record(z.string(), proportion),
  /** Validation success over training, and which share of the tasks failed in which way. */
  evaluations: z.array(z.object({ update: z.number(), success: proportion, failures: z.record(z.string(), z.number()) })),
});
export type ComparedRun = z.infer<typeof comparedRun>;

const pair = z.object({
  a: run,
  b: run,
  /** Tasks that each of them played; only the `n` shared ones count, those of one product or template as one cluster. */
  ofA: z.number(),
  ofB: z.number(),
  n: z.number(),
  clusters: z.number(),
  both: z.number(),
  neither: z.number(),
  onlyA: z.number(),
  onlyB: z.number(),
  difference: anyNumber,
  low: anyNumber,
  high: anyNumber,
  p: anyNumber,
  improvement: anyNumber,
  returns: estimate,
  words: z.string(),
});
export type Pair = z.infer<typeof pair>;

/** Runs that are shown as one. */
const groups = z
  .array(z.strictObject({ key: z.string().max(400), runs: z.array(run).min(1) }))
  .min(1)
  .max(400);

const arm = z.object({
  key: z.string(),
  runs: z.array(run),
  /** Runs that were evaluated, and their mean success with its interval over seeds and clusters of tasks. */
  evaluated: z.number(),
  success: estimate.nullable(),
  /** Inter-quartile mean over the runs. */
  iqm: z.number().nullable(),
});
export type ComparedArm = z.infer<typeof arm>;

/** An arm against the baseline arm. */
const armPair = z.object({
  key: z.string(),
  baseline: z.string(),
  a: z.number(),
  b: z.number(),
  difference: z.number(),
  low: z.number(),
  high: z.number(),
  p: z.number(),
  /** Corrected for the number of comparisons (Holm). */
  holm: z.number(),
  seeds: z.number(),
  pairing: z.enum(['same', 'order', 'one']),
  tasks: z.number(),
  clusters: z.number(),
  onlyA: z.number(),
  onlyB: z.number(),
  /** The worlds of the two have other settings, though the same tasks. */
  otherSettings: z.boolean(),
  words: z.string(),
});
export type ComparedPair = z.infer<typeof armPair>;

/** What the x axis of a curve counts. */
export const curveAxes = ['update', 'episodes', 'steps', 'tokens', 'time'] as const;
export type CurveAxis = (typeof curveAxes)[number];

const budget = z.object({
  episodes: z.number(),
  optimizerSteps: z.number(),
  tokens: z.number(),
  vstarSamples: z.number(),
  branchEpisodes: z.number(),
});

const matrix = z.object({
  tasks: z.array(z.object({ task: z.string(), category: z.string(), tier: z.string() })),
  /** One entry per task for every run: 1 solved, 0 failed, −1 not played; and the stored episode, 0 when there is none. */
  columns: z.array(z.object({ run, outcome: z.instanceof(Int8Array), episode: numbers })),
});
export type Matrix = z.infer<typeof matrix>;

const study = z.object({ id: z.int(), name: z.string(), notes: z.string(), runs: z.array(run), createdAt: z.number() });
export type Study = z.infer<typeof study>;

/** What a study set out to decide, and how it came out; only studies made by `lab study run` have claims. */
const claim = z.object({
  id: z.string(),
  claim: z.string(),
  source: z.string(),
  experiment: z.string(),
  discussion: z.string(),
  verdict: z.enum(verdicts),
  /** With Holm's correction; null in studies from before there was one. */
  corrected: z.enum(verdicts).nullable(),
  tests: z.array(z.object({ verdict: z.enum(verdicts), corrected: z.enum(verdicts).nullable(), words: z.string() })),
});
export type Claim = z.infer<typeof claim>;

/** The arms on screen with their looks, and the baseline. */
const reportView = z.strictObject({
  groups: z
    .array(
      z.strictObject({
        key: z.string().max(400),
        runs: z.array(run),
        look: z.strictObject({ colour: z.int().min(0).max(100), dash: z.array(z.number()).max(8) }),
      }),
    )
    .max(400),
  /** The arm that the others are measured against. */
  baseline: z.string().max(400).nullable(),
});

export const compareEvents = {
  /** How far the report is that is being written. */
  'report.progress': z.object({ share: z.number(), what: z.string() }),
  /** How far the sample study is: so many runs of so many. */
  'studies.sampleProgress': z.object({ done: z.number(), total: z.number() }),
};

export const compareCalls = {
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
  /** Asks for a folder and writes the report there, aside, with `report.progress`; null when the user changed their mind. */
  'report.export': {
    input: z.strictObject({
      runs,
      title: z.string().trim().min(1).max(200),
      formats: z.array(z.enum(reportFormats)).min(1),
      view: reportView.optional(),
    }),
    answer: z.object({ written: z.object({ folder: z.string(), files: z.array(z.string()) }).nullable() }),
  },
  'report.cancel': { input: nothing, answer: nothing },
  /** Shows the folder that was written last. */
  'report.open': { input: nothing, answer: nothing },
};

/** Studies: named selections of runs, what they set out to decide, and the planner. */
export const studyCalls = {
  /** `sample`: there is a sample study to open. */
  'studies.list': { input: nothing, answer: z.object({ studies: z.array(study), sample: z.boolean() }) },
  /** Imports the sample study (once; a second time finds it there) and answers when it is in. */
  'studies.openSample': { input: nothing, answer: z.object({ study }) },
  'studies.claims': { input: z.strictObject({ id: z.int() }), answer: z.object({ question: z.string(), claims: z.array(claim) }) },
  /** A new study, or the runs and name of one that is there. */
  'studies.save': {
    input: z.strictObject({ id: z.int().nullable(), name: z.string().trim().min(1).max(120), runs }),
    answer: z.object({ study }),
  },
  'studies.delete': { input: z.strictObject({ id: z.int() }), answer: nothing },
  /** A study that was deleted since the start, with its claims and notes. */
  'studies.restore': { input: z.strictObject({ id: z.int() }), answer: z.object({ study }) },
  /** Seeds and tasks that find a difference: from the spread of the arms given, else of what was trained in the world before. */
  'study.plan': {
    input: z.strictObject({
      arms: z.strictObject({ groups, baseline: z.string().max(400) }).nullable(),
      world: z.string().max(400).nullable(),
      /** A size whose power is to be computed as well. */
      size: z.strictObject({ seeds: z.int().min(1).max(10_000), tasks: z.int().min(0).max(1_000_000) }).nullable(),
      difference: z.number().gt(0).lt(1),
      power: z.number().gt(0).lt(1),
      tests: z.int().min(1).max(1000),
    }),
    answer: z.object({
      /** Whether the spread was measured (on the arms, or in the world) or assumed. */
      measured: z.boolean(),
      size: z.object({ alone: z.number(), corrected: z.number() }).nullable(),
      /** Standard deviations between seeds and between clusters of tasks, and how many tasks a cluster has. */
      spread: z.object({ seeds: z.number(), clusters: z.number(), clusterSize: z.number() }),
      rows: z.array(z.object({ seeds: z.number(), tasks: z.number(), alone: z.number(), corrected: z.number() })),
      needed: z.array(z.object({ tasks: z.number(), alone: z.number().nullable(), corrected: z.number().nullable() })),
    }),
  },
};
