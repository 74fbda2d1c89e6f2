// READ FIRST: the whole of training on one page. A run is a reference policy, the value V* of its tasks, and then updates: draw
// tasks, play them, score them, let the algorithm say what to learn, step the optimizer, commit, evaluate. It knows nothing of
// processes or databases. Every random draw comes from a stream named by seed and update, so whatever was interrupted is simply
// done again, with the same numbers.

import type { Prepared } from '../algorithm/algorithm.ts';
import { vstarOf } from '../algorithm/vstar.ts';
import { type RunConfig, learningRateAt, temperatureAt } from '../config/config.ts';
import type { Episode } from '../rollout/episode.ts';
import { isAbort, neverAborted } from './abort.ts';
import type { TrainingHost } from './host.ts';
import { type Play, type Streams, drawTasks, followPolicy, learn, playBranchesOf, playTasks, scoreEpisodes } from './stages.ts';
import { type TrainingRun, openTraining } from './training-run.ts';
import { evaluate } from './validation.ts';
import { stageOne } from './vstar-stage.ts';

/** Trains to the end (`done`), or to a checkpoint when the signal is aborted or the host wants no more updates (`stopped`). */
export async function train(config: RunConfig, host: TrainingHost, signal = neverAborted()): Promise<'done' | 'stopped'> {
  const { updates } = config.training;
  let run: TrainingRun | undefined;
  try {
    run = await openTraining(config, host, signal); // the reference policy is found or cloned
    await stageOne(run); // V* of the training tasks

    for (;;) {
      await evaluate(run); // where it is due: before the first update, at intervals, at the end
      await run.record.closeUpdate(); // a checkpoint where it is due
      const { update } = run.record.memory;
      if (update === updates) return 'done';
      if (update === host.until) break;
      await trainUpdate(run, update + 1);
    }
    await run.record.checkpoint();
    return 'stopped';
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
    await run?.record.checkpoint(); // as it was after the latest commit
    return 'stopped';
  } finally {
    await run?.dispose();
  }
}

async function trainUpdate(run: TrainingRun, update: number): Promise<void> {
  const { training, seed } = run.config;
  run.clock.start();
  await followPolicy(run, update); // a reference that lags behind the policy
  const { episodes, prepared, level, temperature } = await collect(run, update, {
    tasks: ['tasks', seed, update],
    names: [seed, update],
    episodes: ['episode', seed, update],
  });

  // Step: gradients of the algorithm's loss, clipping, AdamW.
  const learningRate = learningRateAt(training, update - 1);
  const step = await learn(run, episodes, prepared, { update, learningRate });

  const trajectories = episodes.map(({ trajectory }) => trajectory);
  await run.record.commit({ type: 'update', update, rates: { level, temperature, learningRate }, trajectories, prepared, step });
}

/** A batch as the algorithm wants to learn from it. */
export interface Batch extends Play {
  readonly episodes: readonly Episode[];
  readonly prepared: Prepared;
}

/** Draws tasks, plays them with the current policy, scores the episodes, and lets the algorithm turn them into advantages and weights. */
export async function collect(run: TrainingRun, update: number, streams: Streams): Promise<Batch> {
  const { training } = run.config;
  const play: Play = { update, level: run.record.memory.curriculum.level, temperature: temperatureAt(training, update - 1), streams };

  const tasks = await drawTasks(run, play); // V* of those that have none yet is estimated now
  const episodes = await playTasks(run, tasks, play);
  const branches = await playBranchesOf(run, episodes, play); // where credit comes from continuations
  await scoreEpisodes(run, episodes); // log π_ref, the critic's values
  const { updates, reward } = training;
  const value = (returns: readonly number[]): number => vstarOf(returns, run.config.vstar);
  const prepared = run.learner.prepare(episodes, { update, updates, reward, branches, value });
  return { ...play, episodes, prepared };
}
