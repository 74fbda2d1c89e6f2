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

const memory = z.strictObject({
  update: z.int().min(0),
  /** Its evaluation is over, or none was due: `update`, or less while that is still to come. −1: stage 1 is not over. */
  evaluated: z.int().min(-1),
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
});
export type TrainingMemory = z.infer<typeof memory>;

/** Older checkpoints say what was `unfinished` when they were saved, and have no `evaluated`. */
const olderMemory = z.looseObject({
  update: z.int(),
  evaluated: z.never().optional(),
  unfinished: z.enum(['start', 'evaluation']).optional(),
});

export const TrainingMemory = z.preprocess((stored) => {
  const { data: older } = olderMemory.safeParse(stored);
  if (!older) return stored;
  const { unfinished, ...rest } = older;
  return { ...rest, evaluated: unfinished ? older.update - 1 : older.update };
}, memory);

/** The memory of a run that has not begun. */
export function freshMemory(config: RunConfig, levels: number): TrainingMemory {
  return {
    update: 0,
    evaluated: -1,
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

/** What the parts of a run that change with it would save now. */
export type Snapshot = Pick<TrainingMemory, 'tasks' | 'valued' | 'groups'>;

/** What changes the memory. */
export type MemoryEvent =
  /** Tasks were valued before the first update. */
  | { readonly type: 'valued' }
  | {
      readonly type: 'update';
      readonly update: number;
      readonly metrics: Readonly<Record<string, number>>;
      readonly trajectories: readonly Trajectory[];
      readonly seconds: number;
    }
  /** The evaluations due after the update are over; there may have been none. */
  | { readonly type: 'evaluated'; readonly evaluations: readonly EvaluationReport[]; readonly seconds: number };

/** The memory after an event. Alerts wait for the evaluation that is due. */
export function reduce(
  before: TrainingMemory,
  event: MemoryEvent,
  snapshot: Snapshot,
  { config, levels }: { readonly config: RunConfig; readonly levels: number },
): TrainingMemory {
  const after = { ...changed(before, event, snapshot, config, levels), ...snapshot };
  if (after.evaluated < after.update || after.update === 0) return after;
  return { ...after, alerts: alertsOf({ updates: after.history, validations: after.validations }).map(({ id }) => id) };
}

function changed(before: TrainingMemory, event: MemoryEvent, { valued }: Snapshot, config: RunConfig, levels: number): TrainingMemory {
  const { totals } = before;
  switch (event.type) {
    case 'valued':
      return before;
    case 'evaluated':
      return {
        ...before,
        evaluated: before.update,
        totals: { ...totals, seconds: totals.seconds + (before.update > 0 ? event.seconds : 0) },
        validations: [...before.validations, ...validationsOf(event.evaluations)],
      };
    case 'update': {
      const { update, metrics, trajectories, seconds } = event;
      const counts = {
        episodes: trajectories.length,
        groups: new Set(trajectories.map(({ task }) => task)).size,
        actions: trajectories.reduce((sum, { steps }) => sum + steps.length, 0),
        tasks: valued.length,
      };
      return {
        ...before,
        update,
        evaluated: evaluationDue(config, update) ? before.evaluated : update,
        curriculum: advanceCurriculum(before.curriculum, config.curriculum, levels, field(metrics, 'rollout.success')),
        totals: {
          episodes: totals.episodes + trajectories.length,
          tokens: totals.tokens + tokenCount(trajectories),
          seconds: totals.seconds + seconds,
        },
        history: remember(before.history, metrics, counts),
      };
    }
  }
}

/** Whether something is evaluated after an update: validation tasks, or test tasks at the end. */
const evaluationDue = (config: RunConfig, update: number): boolean => validationDue(config, update) || testDue(config, update);

export const validationDue = ({ evaluation: { every }, training }: RunConfig, update: number): boolean =>
  every > 0 && (update % every === 0 || update === training.updates);

export const testDue = ({ evaluation, training }: RunConfig, update: number): boolean =>
  update === training.updates && evaluation.finalTasks > 0;

/** Of the evaluations of an update those on validation tasks, as the alerts keep them. */
const validationsOf = (evaluations: readonly EvaluationReport[]): Validation[] =>
  evaluations
    .filter(({ kind }) => kind === 'periodic')
    .map(({ update, results }) => ({ update, k: results.filter(({ success }) => success).length, n: results.length }));

/** Whether the latest update has the best validation success of the run so far: then its checkpoint is kept. */
export const isBest = ({ update, validations }: TrainingMemory): boolean => bestValidation(validations)?.update === update;
