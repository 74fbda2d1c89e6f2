// Calls and events about runs: the list, one run with everything about it, and what may be changed. The list is sent
// whole (a row is small) and kept fresh by `runs.changed`, so that filtering and sorting answer at once.

import { z } from 'zod';
import { evaluationKinds, eventKinds, purposes, runStates, severities, stages } from '../../main/base/vocabulary.ts';
import { anyNumber, nothing, proportion } from './definition.ts';

const runId = z.int().min(1);
const runIds = z.array(runId).min(1).max(10_000);

export const runState = z.enum(runStates);
export type RunState = z.infer<typeof runState>;

const stage = z.enum(stages);
export type Stage = z.infer<typeof stage>;

const liveProgress = z.object({
  /** Null before the first stage, while the world is opened. */
  stage: stage.nullable(),
  phase: z.string(),
  done: z.number(),
  total: z.number(),
  secondsLeft: z.number().nullable(),
});
export type LiveProgress = z.infer<typeof liveProgress>;

/** What the list shows of a run. */
export const runRow = z.object({
  id: runId,
  name: z.string(),
  world: z.string(),
  variant: z.string(),
  preset: z.string().nullable(),
  seed: z.number(),
  device: z.string(),
  /** Equal for runs that differ in their seed only. */
  group: z.string(),
  state: runState,
  reason: z.string().nullable(),
  /** Place in the queue; null when it does not wait. */
  position: z.number().nullable(),
  planned: z.number(),
  updates: z.number(),
  episodes: z.number(),
  tokens: z.number(),
  seconds: z.number(),
  /** Seconds per update lately, while it trains or is paused. */
  pace: z.number().nullable(),
  /** What it does at this moment, or did when it was paused; null unless a process of this window trains it. */
  progress: liveProgress.nullable(),
  /** The final evaluation on test tasks, once there is one. */
  test: proportion.extend({ update: z.number(), temperature: z.number() }).nullable(),
  /** Evaluations during training: the latest, and the best. */
  validation: proportion.extend({ update: z.number() }).nullable(),
  best: proportion.extend({ update: z.number() }).nullable(),
  /** Share of successful training episodes, thinned out, oldest first. */
  spark: z.array(z.number()),
  tags: z.array(z.string()),
  notes: z.string(),
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  finishedAt: z.number().nullable(),
  /** The checkpoint it was branched from; `run` is null where that run is not here. */
  origin: z.object({ run: runId.nullable(), update: z.number() }).nullable(),
  /** What of it cannot be read, in words; null for a sound run. */
  damaged: z.string().nullable(),
});
export type RunRow = z.infer<typeof runRow>;

const json = z.json();
export type Json = z.infer<typeof json>;

const difference = z.object({ key: z.string(), before: json.optional(), after: json.optional() });
export type Difference = z.infer<typeof difference>;

/** Of an alert: which one, whether it was raised or has cleared, and the metrics it is about. */
const alert = z.object({ id: z.string(), state: z.enum(['active', 'cleared']), title: z.string(), metrics: z.array(z.string()) });

const runEvent = z.object({
  id: z.number(),
  update: z.number(),
  time: z.number(),
  kind: z.enum(eventKinds),
  severity: z.enum(severities),
  text: z.string(),
  /** Null for all but alerts. */
  alert: alert.nullable(),
});
export type RunEvent = z.infer<typeof runEvent>;

const evaluation = z.object({
  id: z.number(),
  update: z.number(),
  kind: z.enum(evaluationKinds),
  split: z.string(),
  success: proportion,
  meanReturn: anyNumber,
  meanSteps: z.number(),
});

const episode = z.object({
  id: z.number(),
  update: z.number(),
  purpose: z.enum(purposes),
  task: z.string(),
  category: z.string(),
  tier: z.string(),
  failure: z.string().nullable(),
  success: z.boolean(),
  return: anyNumber,
  advantage: anyNumber.nullable(),
  steps: z.number(),
  actions: z.array(z.string()),
});
export type EpisodeRow = z.infer<typeof episode>;

const page = z.object({ total: z.number(), episodes: z.array(episode) });

export const runCalls = {
  'runs.list': { input: nothing, answer: z.object({ runs: z.array(runRow) }) },
  'runs.get': {
    input: z.strictObject({ run: runId }),
    answer: z.object({
      run: runRow,
      config: json,
      versions: z.record(z.string(), z.string()),
      /** What it goes through, in order. */
      stages: z.array(stage),
      /** What differs from the preset it began with; null when that preset is gone. */
      changes: z.array(difference).nullable(),
      /** What would make it faster or smaller, from where its time and memory went. */
      advice: z.array(z.string()),
      /** What its graphics card has cost, in a line; null on the CPU. */
      device: z.string().nullable(),
      /** The temperature of its evaluations during training; 0 is greedy. */
      validationTemperature: z.number(),
    }),
  },
  'runs.change': {
    input: z.strictObject({ run: runId, name: z.string().min(1).max(120).optional(), notes: z.string().max(20_000).optional() }),
    answer: nothing,
  },
  'runs.tag': {
    input: z.strictObject({ runs: runIds, add: z.array(z.string().max(60)), remove: z.array(z.string().max(60)) }),
    answer: nothing,
  },
  /** Into the trash; `runs.restore` undoes it. */
  'runs.delete': { input: z.strictObject({ runs: runIds }), answer: nothing },
  'runs.restore': { input: z.strictObject({ runs: runIds }), answer: nothing },
  /** One config key of every run, for grouping and for columns. */
  'runs.configValues': {
    input: z.strictObject({ key: z.string().min(1).max(200) }),
    answer: z.object({ values: z.array(z.tuple([runId, json])) }),
  },
  'runs.events': { input: z.strictObject({ run: runId }), answer: z.object({ events: z.array(runEvent) }) },
  'runs.evaluations': {
    input: z.strictObject({ run: runId }),
    answer: z.object({ evaluations: z.array(evaluation), checkpoints: z.array(z.object({ update: z.number(), bytes: z.number() })) }),
  },
  /** Newest first: the latest episodes, or those behind one point of a chart. */
  'runs.episodes': {
    input: z.strictObject({
      run: runId,
      purpose: z.enum(purposes).optional(),
      fromUpdate: z.int().min(0).optional(),
      toUpdate: z.int().min(0).optional(),
      limit: z.int().min(1).max(1000),
    }),
    answer: page,
  },
};

export const runEvents = {
  /** At most four times a second: rows that are new or different, runs that are gone, and runs whose record has changed, so that older answers about them no longer hold. */
  'runs.changed': z.object({ rows: z.array(runRow), gone: z.array(runId), stored: z.array(runId) }),
};
