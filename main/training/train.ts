// READ FIRST: the whole of training on one page. A run is a reference policy, the value V* of its tasks, and then updates: draw
// tasks, play them, score them, let the algorithm say what to learn, step the optimizer, evaluate, record, save. It knows nothing
// of processes or databases: it reports what happens and checks after each update whether a pause or stop was requested.
// Every random draw comes from a stream named by seed and update, so a resumed run repeats exactly.

import { type RunConfig, learningRateAt, temperatureAt } from '../config/config.ts';
import { diagnoseTrajectory } from '../evaluation/evaluate.ts';
import { at } from '../indexed.ts';
import { Random } from '../random.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import type { TrainingHost } from './host.ts';
import { evaluateUpdate } from './validation.ts';
import { isBest, nextMemory } from './memory.ts';
import { saveCheckpoint } from './save.ts';
import { beginRun, drawableTasks, valueTasks } from './stage-one.ts';
import { openTraining } from './training-run.ts';
import { updateMetrics } from './update-metrics.ts';

export async function train(config: RunConfig, host: TrainingHost): Promise<'done' | 'stopped'> {
  const run = await openTraining(config, host);
  const { policy, learner, trainer, vstar, tasks, recorder, reporter, commands } = run;
  const { training, checkpoints, seed } = config;
  const { needs } = run.setup.algorithm;

  try {
    await beginRun(run); // stage 1: V* of the training tasks, and the evaluation before the first update

    for (let update = run.memory.update + 1; update <= training.updates; update++) {
      const clock = run.startClock();
      const { level } = run.memory.curriculum;
      const last = update === training.updates;

      // Draw tasks. V* of those that have none yet is estimated now.
      const drawable = await recorder.time('system/time.vstar', () => drawableTasks(run, level, update));
      const drawn = tasks.draw(drawable.tasks, Math.ceil(training.batch / needs.group), Random.from('tasks', seed, update));
      const valued = await recorder.time('system/time.vstar', () => valueTasks(run, drawn, level, update));

      // Play each task `group` times with the current policy.
      const temperature = temperatureAt(training, update - 1);
      const requests = drawn.flatMap((task, index) =>
        Array.from({ length: needs.group }, (_, copy) => {
          const episodeSeed = Random.from('episode', seed, update, index, copy).integer();
          return { task, seed: episodeSeed, purpose: 'train' as const, update, relabel: true, level };
        }),
      );
      const episodes = await recorder.time('system/time.rollout', () => rollout(policy, requests, drawAt(temperature)));
      for (const [index, { trajectory }] of episodes.entries()) {
        diagnoseTrajectory(trajectory, policy.environment, at(requests, index).task, level);
        if (needs.vstar) trajectory.vstar = vstar.of(trajectory.task, level).value;
        tasks.record(trajectory.task, trajectory.success);
      }

      // Score: log π_ref and the critic's values of every token, as far as the algorithm needs them.
      await recorder.time('system/time.scoring', () => learner.score(episodes));

      // Prepare: the algorithm turns episodes into advantages and weights.
      const prepared = learner.prepare(episodes, { update, updates: training.updates, reward: training.reward });

      // Step: gradients of the algorithm's loss, clipping, AdamW.
      const learningRate = learningRateAt(training, update - 1);
      const step = await recorder.time('system/time.update', () => learner.update(episodes, prepared, update, learningRate));
      await trainer.download(); // from a device; on the CPU the policy plays with the very arrays that are trained

      // Evaluate on validation tasks when it is due, and on test tasks at the end.
      const evaluations = await recorder.time('system/time.evaluation', () => evaluateUpdate(run, update));

      // Record.
      const time = clock();
      const trajectories = episodes.map(({ trajectory }) => trajectory);
      const rates = { level, temperature, learningRate };
      const metrics = updateMetrics(run, { update, time, rates, trajectories, prepared, step, evaluations });
      const before = run.memory;
      const { length: valuedTasks } = vstar.values;
      const done = { update, metrics, trajectories, evaluations, valued: valuedTasks, seconds: time.total };
      run.memory = nextMemory(before, config, policy.environment.levels, done);
      const newValues = [...drawable.valued, ...valued];
      const unknown = recorder.takeUnknown();
      await reporter.update({ ...done, unknown, distributions: prepared.distributions, valued: newValues, before, after: run.memory });

      // Save, then pause or stop if that was requested.
      if (last || isBest(run.memory) || (checkpoints.every > 0 && update % checkpoints.every === 0))
        await saveCheckpoint(run, update, last);
      await reporter.measured(update);
      if (!last && (await commands.handle(update, () => saveCheckpoint(run, update, false))) === 'stop') return 'stopped';
    }
    return 'done';
  } finally {
    await run.dispose();
  }
}
