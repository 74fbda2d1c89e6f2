// READ FIRST: the whole of training on one page. A run is a reference policy, the value V* of its tasks, and then updates: draw
// tasks, play them, score them, let the algorithm say what to learn, step the optimizer, evaluate, record, save. It knows nothing
// of processes or databases: it reports what happens and obeys a pause or stop between two batches, except during optimizer steps.
// Every random draw comes from a stream named by seed and update, so a resumed run repeats exactly.

import { type RunConfig, learningRateAt, temperatureAt } from '../config/config.ts';
import { diagnoseTrajectory } from '../evaluation/evaluate.ts';
import { at } from '../base/indexed.ts';
import { Random } from '../base/random.ts';
import { groupNames } from './group-names.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import { StopRequested } from './commands.ts';
import type { TrainingHost } from './host.ts';
import { evaluateAndRecord, finishEvaluation } from './record.ts';
import type { VstarEntry } from './reports.ts';
import { saveCheckpoint } from './save.ts';
import { beginRun, drawableTasks, valueTasks } from './stage-one.ts';
import { type TrainingRun, openTraining } from './training-run.ts';

export async function train(config: RunConfig, host: TrainingHost): Promise<'done' | 'stopped'> {
  let run: TrainingRun | undefined;
  try {
    run = await openTraining(config, host); // the reference policy: found or cloned
    await beginRun(run); // stage 1: V* of the training tasks, and the evaluation before the first update
    await finishEvaluation(run); // of a run that was stopped in the middle of one

    for (let update = run.memory.update + 1; update <= config.training.updates; update++) {
      await trainUpdate(run, update);
      const last = update === config.training.updates;
      const save = saveIfNew(run, update);
      if (!last && (await run.commands.handle(update, save)) === 'stop') return 'stopped';
    }
    return 'done';
  } catch (error) {
    if (error instanceof StopRequested) return 'stopped';
    throw error;
  } finally {
    await run?.dispose();
  }
}

async function trainUpdate(run: TrainingRun, update: number): Promise<void> {
  const { config, policy, learner, trainer, vstar, tasks, recorder, commands } = run;
  const { training, seed } = config;
  const { needs } = run.setup.algorithm;
  const { poll } = commands;
  const clock = run.startClock();
  const { level } = run.memory.curriculum;
  const temperature = temperatureAt(training, update - 1);
  const draw = drawAt(temperature, training.minP);
  const learningRate = learningRateAt(training, update - 1);
  const valued: VstarEntry[] = [];

  // Up to the optimizer step the run can still be saved as it was before this update; V* of tasks is kept in the cache.
  const valuedBefore = vstar.values.length;
  const keep = async (): Promise<void> => {
    if (valued.length > 0) await run.reporter.vstar(update, valued, []);
    await saveIfNew(run, update - 1, valuedBefore)();
  };
  const { episodes, prepared, step } = await commands.during(update - 1, keep, async () => {
    // Draw tasks. V* of those that have none yet is estimated now.
    const drawable = await recorder.time('system/time.vstar', () => drawableTasks(run, level, update, valued));
    const drawn = tasks.draw(drawable, Math.ceil(training.batch / needs.group), Random.from('tasks', seed, update));
    await recorder.time('system/time.vstar', () => valueTasks(run, drawn, level, update, valued));

    // Play each task `group` times with the current policy.
    const requests = drawn.flatMap((task, index) => {
      const relabel = groupNames(config, needs.group, seed, update, index);
      return Array.from({ length: needs.group }, (_, copy) => {
        const episodeSeed = Random.from('episode', seed, update, index, copy).integer();
        return { task, seed: episodeSeed, purpose: 'train' as const, update, relabel, level };
      });
    });
    const episodes = await recorder.time('system/time.rollout', () => rollout(policy, requests, draw, { poll }));
    for (const [index, { trajectory }] of episodes.entries()) {
      diagnoseTrajectory(trajectory, policy.environment, at(requests, index).task, level);
      if (needs.vstar) trajectory.vstar = vstar.of(trajectory.task, level).value;
    }

    // Score: log π_ref and the critic's values of every token, as far as the algorithm needs them.
    recorder.record(await recorder.time('system/time.scoring', () => learner.score(episodes, poll)));

    // Prepare: the algorithm turns episodes into advantages and weights.
    const prepared = learner.prepare(episodes, { update, updates: training.updates, reward: training.reward });

    // Step: gradients of the algorithm's loss, clipping, AdamW.
    const { microBatchShare } = learner;
    const step = await recorder.time('system/time.update', () => learner.update(episodes, prepared, { update, learningRate, poll }));
    if (learner.microBatchShare !== microBatchShare) await run.reporter.smallerBatches(update, learner.microBatchShare);
    return { episodes, prepared, step };
  });
  const trajectories = episodes.map(({ trajectory }) => trajectory);
  for (const { task, success } of trajectories) tasks.record(task, success);
  if (run.playsFromState) await trainer.download(); // where the policy does not play on the device that trains it

  // Evaluate on validation tasks when it is due, and on test tasks at the end; record; save.
  const rates = { level, temperature, learningRate };
  await evaluateAndRecord(run, { update, clock, rates, trajectories, prepared, step, valued });
}

/** Saves a run that is asked to pause or stop, unless its checkpoint is there already. */
const saveIfNew = (run: TrainingRun, update: number, valued?: number) => async (): Promise<void> => {
  if (run.saved !== update) await saveCheckpoint(run, update, valued === undefined ? {} : { valued });
};
