// How stored things look on the wire: a run as a row of the list, k of n with its interval.

import { existsSync } from 'node:fs';
import { z } from 'zod';
import { sampleStudyFile } from '../base/paths.ts';
import { proportion, type Proportion } from '../base/shapes.ts';
import { wilson } from '../base/statistics.ts';
import { runStates, stages } from '../base/vocabulary.ts';
import type { RunSummary, Successes } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { Study } from '../store/studies.ts';

const liveProgress = z.object({
  /** Null before the first stage, while the world is opened. */
  stage: z.enum(stages).nullable(),
  phase: z.string(),
  done: z.number(),
  total: z.number(),
  secondsLeft: z.number().nullable(),
});
export type LiveProgress = z.infer<typeof liveProgress>;

/** What the list shows of a run. */
export const runRow = z.object({
  id: z.int().min(1),
  name: z.string(),
  world: z.string(),
  variant: z.string(),
  preset: z.string().nullable(),
  seed: z.number(),
  device: z.string(),
  /** Equal for runs that differ in their seed only. */
  group: z.string(),
  state: z.enum(runStates),
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
  /** What it does at this moment, or did when it was paused; null unless this lab trains it. */
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
  origin: z.object({ run: z.int().min(1).nullable(), update: z.number() }).nullable(),
  /** What of it cannot be read, in words; null for a sound run. */
  damaged: z.string().nullable(),
});
export type RunRow = z.infer<typeof runRow>;

export const studyRow = z.object({ id: z.int(), name: z.string(), notes: z.string(), runs: z.array(z.int()), createdAt: z.number() });
export type StudyRow = z.infer<typeof studyRow>;
/** `sample`: there is a sample study to open. */
export const studyList = z.object({ studies: z.array(studyRow), sample: z.boolean() });

export const studyRowOf = ({ id, name, notes, runs, createdAt }: Study): StudyRow => ({ id, name, notes, runs: [...runs], createdAt });

export function listStudies({ studies }: Pick<Store, 'studies'>): z.infer<typeof studyList> {
  return { studies: studies.list().map(studyRowOf), sample: existsSync(sampleStudyFile()) };
}

/** A spark line is as wide as a word: more points would not be seen. */
const SPARK_POINTS = 24;

export function proportionOf({ k, n }: Successes): Proportion {
  const { rate, low, high } = wilson(k, n);
  return { k, n, rate, low, high };
}

/** A run as the list shows it. Never throws: what cannot be shown of a damaged run is left out, and the row says so. */
export function rowOf(store: Records, run: RunSummary, progress: LiveProgress | null = null): RunRow {
  try {
    const row = runRow.safeParse({ ...soundRow(store, run), progress });
    if (row.success) return row.data;
    return damagedRow(run, `its ${String(row.error.issues[0]?.path[0] ?? 'row')} cannot be shown`);
  } catch (error) {
    return damagedRow(run, error instanceof Error ? error.message : String(error));
  }
}

type Records = Pick<Store, 'runs' | 'metrics'>;

/** So many of the latest updates say how fast a run is: enough for a validation among them. */
const LATELY = 10;

/** Seconds per update lately. The first update builds what the later ones use, so it counts only while there is no other. */
function paceOf({ metrics }: Records, { id, state, updates }: RunSummary): number | null {
  if (updates === 0 || (state !== 'running' && state !== 'stopping' && state !== 'paused')) return null;
  const { values } = metrics.series(id, 'system/time.total', { from: Math.max(Math.min(2, updates), updates - LATELY + 1) });
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function soundRow(store: Records, run: RunSummary): Omit<RunRow, 'progress'> {
  const { uid: _uid, configHash: _config, groupHash: _group, pauseAt: _pause, deletedAt: _deleted, ...shown } = run;
  const { test, validation, best } = run;
  return {
    ...shown,
    group: run.groupHash.slice(0, 12),
    pace: paceOf(store, run),
    test: test && { ...proportionOf(test), update: test.update, temperature: test.temperature },
    validation: validation && { ...proportionOf(validation), update: validation.update },
    best: best && { ...proportionOf(best), update: best.update },
    spark: thin(run.spark.map(([, share]) => share)),
    tags: [...run.tags],
    origin: run.origin && { run: run.origin.run, update: run.origin.update },
  };
}

/** The least that can be said of a run: its number, its state and what is wrong with it. */
function damagedRow({ id, state, deletedAt: _deleted, name, createdAt, damaged }: RunSummary, fault: string): RunRow {
  return {
    id,
    name: typeof name === 'string' ? name.slice(0, 200) : `Run ${id}`,
    world: '',
    variant: '',
    preset: null,
    seed: 0,
    device: '',
    group: `damaged-${id}`,
    state,
    reason: null,
    position: null,
    planned: 0,
    updates: 0,
    episodes: 0,
    tokens: 0,
    seconds: 0,
    pace: null,
    progress: null,
    test: null,
    validation: null,
    best: null,
    spark: [],
    tags: [],
    notes: '',
    createdAt: Number.isFinite(createdAt) ? createdAt : 0,
    startedAt: null,
    finishedAt: null,
    origin: null,
    damaged: damaged === null ? fault : `${damaged}; ${fault}`,
  };
}

/** Means of neighbours, so that a thinned-out curve keeps its level. */
function thin(values: readonly number[]): number[] {
  if (values.length <= SPARK_POINTS) return [...values];
  return Array.from({ length: SPARK_POINTS }, (_, index) => {
    const part = values.slice(Math.floor((index * values.length) / SPARK_POINTS), Math.floor(((index + 1) * values.length) / SPARK_POINTS));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
