// The record of an update: its metrics, its episodes, what the run remembers of it. It is written once its evaluation is over. When a
// pause or stop comes during the evaluation, it is written before, and the evaluation is added later, by this process or by the one
// that resumes the run: the numbers are the same.

import { evaluationMetrics, tabulateIn } from '../evaluation/evaluate.ts';
import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { evaluatedMemory, isBest, nextMemory } from './memory.ts';
import type { VstarEntry } from './reports.ts';
import { saveCheckpoint } from './save.ts';
import type { TrainingRun, UpdateTime } from './training-run.ts';
import { type UpdateParts, updateMetrics } from './update-metrics.ts';
import { evaluateUpdate } from './validation.ts';

export interface UpdateWork extends Pick<UpdateParts, 'update' | 'rates' | 'prepared' | 'step'> {
  readonly clock: () => UpdateTime;
  readonly trajectories: UpdateParts['trajectories'][number][];
  /** V* of tasks that were met for the first time. */
  readonly valued: VstarEntry[];
}

/** Evaluates the policy where that is due, records the update and saves it where that is due. */
export async function evaluateAndRecord(run: TrainingRun, work: UpdateWork): Promise<void> {
  const { update } = work;
  const { checkpoints, training } = run.config;
  let early = false;
  const keep = async (): Promise<void> => {
    if (!early) await record(run, work, undefined);
    early = true;
    await saveCheckpoint(run, update, { unfinished: 'evaluation' });
  };
  const evaluations = await evaluate(run, update, keep);
  if (early) return addEvaluations(run, update, evaluations);
  await record(run, work, evaluations);
  const last = update === training.updates;
  if (last || isBest(run.memory) || (checkpoints.every > 0 && update % checkpoints.every === 0))
    await saveCheckpoint(run, update, { kept: last });
  await run.reporter.measured(update);
}

/** Of a resumed run: the evaluation during which it was stopped. */
export async function finishEvaluation(run: TrainingRun): Promise<void> {
  const { update, unfinished } = run.memory;
  if (unfinished !== 'evaluation') return;
  const keepNothing = (): void => {}; // the checkpoint is there
  await addEvaluations(run, update, await evaluate(run, update, keepNothing));
}

const evaluate = (run: TrainingRun, update: number, keep: () => void | Promise<void>): Promise<EvaluationReport[]> =>
  run.recorder.time('system/time.evaluation', () => run.commands.during(update, keep, () => evaluateUpdate(run, update)));

/** `evaluations`: undefined while they are still to come. */
async function record(run: TrainingRun, work: UpdateWork, evaluations: readonly EvaluationReport[] | undefined): Promise<void> {
  const { update, clock, trajectories, prepared, valued } = work;
  const time = clock();
  const metrics = updateMetrics(run, { ...work, time, evaluations: evaluations ?? [] });
  const before = run.memory;
  const done = { update, metrics, trajectories, valued: run.vstar.values.length, seconds: time.total };
  const after = nextMemory(before, run.config, run.policy.environment.levels, { ...done, evaluations: evaluations ?? [] });
  run.memory = evaluations ? after : { ...after, alerts: before.alerts, unfinished: 'evaluation' };
  const unknown = run.recorder.takeUnknown();
  const { distributions } = prepared;
  await run.reporter.update({ ...done, evaluations, unknown, distributions, valued, before, after: run.memory });
}

/** Adds the evaluations of an update to its record, and replaces its unfinished checkpoint. */
async function addEvaluations(run: TrainingRun, update: number, evaluations: readonly EvaluationReport[]): Promise<void> {
  const before = run.memory;
  const time = run.recorder.take();
  run.memory = evaluatedMemory(before, evaluations, time['system/time.evaluation'] ?? 0);
  const validation = evaluations.find(({ kind }) => kind === 'periodic');
  const metrics = validation ? evaluationMetrics(tabulateIn(run.setup.environment, validation.results)) : {};
  await run.reporter.evaluated(update, evaluations, before, run.memory);
  await run.reporter.measured(update, { ...metrics, ...time });
  await saveCheckpoint(run, update, { kept: update === run.config.training.updates });
}
