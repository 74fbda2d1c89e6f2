// "What would another policy have done from here?": the first steps of a recorded episode are played again as they were,
// then a policy of the store continues. A job of the worker process, because the model's work must not stall the window.

import type { Catalog } from '../config/catalog.ts';
import { EpisodeInPlay } from '../rollout/episode.ts';
import { drawAt } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { runOfEpisode } from '../store/trajectories.ts';
import { Store } from '../store/store.ts';
import { diagnoseTrajectory } from '../evaluation/evaluate.ts';
import { policyOfRun } from './policies.ts';
import { readerOf, retrace } from './replay.ts';

export interface ResampleJob {
  readonly dataFolder: string;
  readonly episode: number;
  /** Steps that stay as they were. */
  readonly step: number;
  /** Whose policy continues, as it was after which update. */
  readonly run: number;
  readonly update: number;
  readonly temperature: number;
  /** Another number, other draws. */
  readonly attempt: number;
  /** Number of rollouts from there: the first is shown, all are counted. */
  readonly rollouts: number;
}

/** More draws than an episode can take, so that no two rollouts share one. */
const DRAWS_PER_ROLLOUT = 10_000;

export async function runResample(catalog: Catalog, job: ResampleJob): Promise<{ trajectory: Trajectory; solved: number }> {
  const store = Store.read(job.dataFolder, catalog);
  try {
    const recorded = store.trajectories.read(job.episode);
    const own = store.runs.get(runOfEpisode(job.episode));
    const { environment, findTask } = readerOf(catalog, own, store.dataFolder);
    const task = findTask(recorded);
    const traced = task && retrace(environment, task, recorded);
    if (!traced) {
      throw new Error('Today’s world no longer plays this episode as it was recorded, so no policy can continue from its steps');
    }
    const policy = policyOfRun(store, job.run, job.update);
    const { codec, sampler } = policy.player;
    const episodes = Array.from({ length: job.rollouts }, (_, rollout) => {
      const episode = new EpisodeInPlay(environment, codec, {
        task,
        seed: recorded.seed,
        purpose: 'evaluation',
        update: policy.update,
        relabel: false,
        level: traced.level,
      });
      for (const step of recorded.steps.slice(0, job.step)) episode.force(step);
      for (let drawn = 0; drawn < (job.attempt * job.rollouts + rollout) * DRAWS_PER_ROLLOUT; drawn++) episode.random.next();
      return episode;
    });
    const open = episodes.filter(({ done }) => !done);
    if (open.length > 0) await sampler.run(open, drawAt(job.temperature));
    await sampler.dispose();
    const played = episodes.map((episode) => episode.finish().trajectory);
    const [trajectory] = played;
    if (!trajectory) throw new RangeError(`Expected at least one rollout, found ${job.rollouts}`);
    diagnoseTrajectory(trajectory, environment, task, traced.level);
    // What was given keeps the numbers it had: they belong to the policy that said it.
    const steps = trajectory.steps.map((step, index) => {
      const before = index < job.step ? recorded.steps[index] : undefined;
      return before ? { ...step, tokens: before.tokens } : step;
    });
    return { trajectory: { ...trajectory, steps }, solved: played.filter(({ success }) => success).length };
  } finally {
    store.close();
  }
}
