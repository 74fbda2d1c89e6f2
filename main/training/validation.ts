// The evaluations that belong to a run: on validation tasks before the first update and at regular intervals, and once on test tasks
// at the end.

import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { testDue, validationDue } from './memory.ts';
import { PHASES } from './progress.ts';
import { worldHash } from './run-setup.ts';
import type { TrainingRun } from './training-run.ts';

/** The evaluations that are due after the latest update, unless they are over. */
export async function evaluate(run: TrainingRun): Promise<void> {
  const { config, record, recorder } = run;
  const { update, evaluated } = record.memory;
  if (evaluated === update) return;
  const evaluations = await recorder.time('system/time.evaluation', async () => [
    ...(validationDue(config, update) ? [await evaluatePart(run, update, 'periodic')] : []),
    ...(testDue(config, update) ? [await evaluatePart(run, update, 'final')] : []),
  ]);
  await record.commit({ type: 'evaluated', evaluations });
}

/** The current policy on validation tasks (`periodic`) or test tasks (`final`), at the hardest level. */
function evaluatePart(run: TrainingRun, update: number, kind: EvaluationReport['kind']): Promise<EvaluationReport> {
  const { policy, reporter, signal } = run;
  const phase = kind === 'final' ? PHASES.test : PHASES.validation;
  const progress = (done: number, total: number) => void reporter.progress(update, phase, done, total);
  const { evaluation } = run.config;
  const request = {
    split: kind === 'final' ? 'test' : evaluation.split,
    tasks: kind === 'final' ? evaluation.finalTasks : evaluation.tasks,
    temperature: evaluation.temperature,
    beam: evaluation.beam,
    seed: 1,
    update,
    kind,
    agent: 'policy',
    worldHash: worldHash(policy.environment, policy.environment.levels - 1),
  } as const;
  return evaluatePolicy(policy, request, progress, signal);
}
