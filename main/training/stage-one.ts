// Stage 1 as the loop sees it: what happens before the first update (or when a run is resumed), and V* of tasks that come up later.
// How a task is valued is in vstar-stage.ts.

import { scheduled } from '../algorithm/vstar.ts';
import type { Task } from '../environment/environment.ts';
import { optimisticVstar } from '../metrics/alerts.ts';
import { validationsOf } from './memory.ts';
import { PHASES } from './progress.ts';
import type { VstarEntry } from './reports.ts';
import { saveCheckpoint } from './save.ts';
import type { TrainingRun } from './training-run.ts';
import { evaluateNow } from './validation.ts';

/** A new run values its tasks and evaluates the policy it starts from; a resumed one brings its values back. */
export async function beginRun(run: TrainingRun): Promise<void> {
  const { pool, vstar, reporter, commands } = run;
  const { unfinished, ...memory } = run.memory;
  run.memory = unfinished === 'start' ? memory : run.memory;
  if (run.resumed) {
    const keepNothing = (): void => {}; // the checkpoint is there
    await commands.during(memory.update, keepNothing, () => vstar.restore(memory.valued, pool));
    if (unfinished !== 'start') return vstar.release();
  } else {
    const { environment, algorithm, config } = run.setup;
    const optimistic = algorithm.needs.vstar && optimisticVstar(environment.chance === true, config.vstar.estimator);
    if (optimistic) await reporter.alert(0, optimistic);
  }
  await commands.during(
    0,
    () => saveCheckpoint(run, 0, { unfinished: 'start' }),
    () => valueAndEvaluate(run),
  );
  await saveCheckpoint(run, 0);
}

async function valueAndEvaluate(run: TrainingRun): Promise<void> {
  const { config, pool, tasks, vstar, reporter, policy } = run;
  const early = config.curriculum.mode === 'off' && config.vstar.samples.length === 1;
  if (early) await valueTasks(run, pool, policy.environment.levels - 1, 0, []);
  tasks.expect(vstar.values);
  await vstar.release();
  if (config.evaluation.every === 0) return;
  const evaluation = await evaluateNow(run, 0, 'periodic');
  run.memory = { ...run.memory, validations: validationsOf([evaluation]) };
  await reporter.evaluation(evaluation);
}

/** The training tasks of a level; with `dropUnsolved` only those that the reference has solved at least once. The V* that this took is added to `valued`. */
export async function drawableTasks(run: TrainingRun, level: number, update: number, valued: VstarEntry[]): Promise<readonly Task[]> {
  const tasks = run.pool.filter((task) => task.level <= level);
  if (!run.config.vstar.dropUnsolved || !run.setup.algorithm.needs.vstar) return tasks;
  await valueTasks(run, tasks, level, update, valued);
  return tasks.filter((task) => run.vstar.of(task.id, level).success > 0);
}

/** Values the tasks that have no V* yet. Before the first update they are reported at once, later they are added to `valued`. */
export async function valueTasks(
  run: TrainingRun,
  tasks: readonly Task[],
  level: number,
  update: number,
  valued: VstarEntry[],
): Promise<void> {
  const { config, vstar, reporter } = run;
  if (!run.setup.algorithm.needs.vstar) return;
  const samples = scheduled(config.vstar.samples, Math.max(0, update - 1), config.training.updates);
  await vstar.ensure(tasks, level, samples, async (entries, episodes, done, total) => {
    if (update === 0) await reporter.vstar(update, entries, episodes);
    else valued.push(...entries);
    await reporter.progress(update, PHASES.vstar, done, total);
  });
}
