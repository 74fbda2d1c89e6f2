// What a run remembers from update to update beside weights and optimizer state: saved with every checkpoint, so that a resumed
// run continues exactly. Random draws need no state: their streams follow from seed and update.

import { z } from 'zod';
import { CurriculumState, advanceCurriculum, startCurriculum } from '../algorithm/curriculum.ts';
import type { RunConfig } from '../config/config.ts';
import { field } from '../base/indexed.ts';
import { Validation, alertsOf, bestValidation, remember } from '../metrics/alerts.ts';
import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { GroupMemory } from '../metrics/groups.ts';
import { type Trajectory, tokenCount } from '../rollout/trajectory.ts';

export const TrainingMemory = z.strictObject({
  update: z.int().min(0),
  /** Running success by task. */
  tasks: z.record(z.string(), z.number()),
  /** Tasks that have a V*: task, level, samples. Their values are found again in the cache, or sampled again alike. */
  valued: z.array(z.tuple([z.string(), z.int(), z.int()])),
  curriculum: CurriculumState,
  totals: z.strictObject({ episodes: z.int(), tokens: z.int(), seconds: z.number() }),
  /** Alerts that are active, so that each is reported once. */
  alerts: z.array(z.string()),
  /** Recent metrics that the alerts are computed from. */
  history: z.array(z.record(z.string(), z.number())).default([]),
  /** Success on validation tasks over the whole run. */
  validations: z.array(Validation).default([]),
  /** The latest episodes of each task. */
  groups: GroupMemory.default({}),
  /** A run that stopped in the middle of something: valuing tasks before the first update, or the evaluation of its latest one. */
  unfinished: z.enum(['start', 'evaluation']).optional(),
});
export type TrainingMemory = z.infer<typeof TrainingMemory>;

/** The memory of a run that has not begun. */
export function freshMemory(config: RunConfig, levels: number): TrainingMemory {
  return {
    update: 0,
    tasks: {},
    valued: [],
    curriculum: startCurriculum(config.curriculum, levels),
    totals: { episodes: 0, tokens: 0, seconds: 0 },
    alerts: [],
    history: [],
    validations: [],
    groups: {},
  };
}

interface UpdateDone {
  readonly update: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly trajectories: readonly Trajectory[];
  readonly seconds: number;
  readonly evaluations: readonly EvaluationReport[];
  /** Tasks with a V*. */
  readonly valued: number;
}

/** The memory after an update: totals, the curriculum's level, the alerts that are active now. */
export function nextMemory(memory: TrainingMemory, config: RunConfig, levels: number, done: UpdateDone): TrainingMemory {
  const { update, metrics, trajectories, seconds, evaluations, valued } = done;
  const { totals } = memory;
  const counts = {
    episodes: trajectories.length,
    groups: new Set(trajectories.map(({ task }) => task)).size,
    actions: trajectories.reduce((sum, { steps }) => sum + steps.length, 0),
    tasks: valued,
  };
  const history = remember(memory.history, metrics, counts);
  const validations = [...memory.validations, ...validationsOf(evaluations)];
  return {
    ...memory,
    update,
    curriculum: advanceCurriculum(memory.curriculum, config.curriculum, levels, field(metrics, 'rollout.success')),
    totals: {
      episodes: totals.episodes + trajectories.length,
      tokens: totals.tokens + tokenCount(trajectories),
      seconds: totals.seconds + seconds,
    },
    history,
    validations,
    alerts: alertsOf({ updates: history, validations }).map(({ id }) => id),
  };
}

/** The memory of an update that was recorded before its evaluation, with the evaluation added. */
export function evaluatedMemory(memory: TrainingMemory, evaluations: readonly EvaluationReport[], seconds: number): TrainingMemory {
  const { unfinished: _finished, ...rest } = memory;
  const validations = [...memory.validations, ...validationsOf(evaluations)];
  return {
    ...rest,
    totals: { ...memory.totals, seconds: memory.totals.seconds + seconds },
    validations,
    alerts: alertsOf({ updates: memory.history, validations }).map(({ id }) => id),
  };
}

/** Of the evaluations of an update those on validation tasks, as the alerts keep them. */
export const validationsOf = (evaluations: readonly EvaluationReport[]): Validation[] =>
  evaluations
    .filter(({ kind }) => kind === 'periodic')
    .map(({ update, results }) => ({ update, k: results.filter(({ success }) => success).length, n: results.length }));

/** Whether the latest update has the best validation success of the run so far: then its checkpoint is kept. */
export const isBest = ({ update, validations }: TrainingMemory): boolean => bestValidation(validations)?.update === update;
