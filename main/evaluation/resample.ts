// "What would another policy have done from here?": the first steps of a recorded episode are played again as they were,
// then a policy of the store goes on. A job of the training process, because the model's work must not stall the window.

import { EpisodeInPlay } from '../rollout/episode.ts';
import { drawAt } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { runOfEpisode } from '../store/trajectories.ts';
import { Store } from '../store/store.ts';
import { diagnoseTrajectory } from './evaluate.ts';
import { policyOfRun } from './policies.ts';
import { readerOf, retrace } from './replay.ts';

export interface ResampleJob {
  readonly dataFolder: string;
  readonly episode: number;
  /** Steps that stay as they were. */
  readonly step: number;
  /** Whose policy goes on, as it was after which update. */
  readonly run: number;
  readonly update: number;
  readonly temperature: number;
  readonly attempt: number;
}

export async function runResample(job: ResampleJob): Promise<{ trajectory: Trajectory }> {
  const store = Store.read(job.dataFolder);
  try {
    const recorded = store.trajectories.read(job.episode);
    const own = store.runs.get(runOfEpisode(job.episode));
    const { environment, findTask } = readerOf(own);
    const task = findTask(recorded);
    const traced = task && retrace(environment, task, recorded);
    if (!traced) {
      throw new Error('Today’s world no longer plays this episode as it was recorded, so no policy can go on from its steps');
    }
    const policy = policyOfRun(store, job.run, job.update);
    const { speech, sampler } = policy.player;
    const episode = new EpisodeInPlay(environment, speech, {
      task,
      seed: recorded.seed,
      purpose: 'evaluation',
      update: policy.update,
      relabel: false,
      level: traced.level,
    });
    for (const step of recorded.steps.slice(0, job.step)) episode.force(step);
    for (let drawn = 0; drawn < job.attempt; drawn++) episode.random.next();
    if (!episode.done) await sampler.run([episode], drawAt(job.temperature));
    await sampler.dispose();
    const { trajectory } = episode.finish();
    diagnoseTrajectory(trajectory, environment, task, traced.level);
    // What was given keeps the numbers it had: they belong to the policy that said it.
    const steps = trajectory.steps.map((step, index) => {
      const before = index < job.step ? recorded.steps[index] : undefined;
      return before ? { ...step, tokens: before.tokens } : step;
    });
    return { trajectory: { ...trajectory, steps } };
  } finally {
    store.close();
  }
}
