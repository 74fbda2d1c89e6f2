// The evaluations that belong to a run: on validation tasks at regular intervals, and once on test tasks at the end.

import type { EvaluationReport } from '../evaluation/evaluation-report.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { PHASES } from './progress.ts';
import { worldHash } from './run-setup.ts';
import type { TrainingRun } from './training-run.ts';

/** The evaluations due after an update. */
export async function evaluateUpdate(run: TrainingRun, update: number): Promise<EvaluationReport[]> {
  const { evaluation, training } = run.config;
  const last = update === training.updates;
  const evaluations: EvaluationReport[] = [];
  if (evaluation.every > 0 && (update % evaluation.every === 0 || last)) evaluations.push(await evaluateNow(run, update, 'periodic'));
  if (last && evaluation.finalTasks > 0) evaluations.push(await evaluateNow(run, update, 'final'));
  return evaluations;
}

/** The current policy on validation tasks (`periodic`) or test tasks (`final`), at the hardest level. */
export async function evaluateNow(run: TrainingRun, update: number, kind: EvaluationReport['kind']): Promise<EvaluationReport> {
  const { policy, reporter, commands } = run;
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
  return evaluatePolicy(policy, request, progress, commands.poll);
}
