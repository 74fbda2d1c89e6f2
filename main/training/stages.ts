// The stages of an update, each with its time measured: tasks are drawn (and valued where they have no V* yet), played, scored and
// learned from. What they mean together is in train.ts.

import type { Prepared } from '../algorithm/algorithm.ts';
import { type Branches, turnRewards } from '../algorithm/credit.ts';
import { Random } from '../base/random.ts';
import type { Task } from '../environment/environment.ts';
import { diagnoseTrajectory } from '../evaluation/evaluate.ts';
import { at } from '../base/indexed.ts';
import { playBranches } from '../rollout/branch.ts';
import type { Episode } from '../rollout/episode.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import type { LearningReport } from './batching/minibatch.ts';
import { groupNames } from './group-names.ts';
import type { TrainingRun } from './training-run.ts';
import { adopt } from './weights.ts';
import { drawableTasks, valueTasks } from './vstar-stage.ts';

/** The names of the random streams that a batch is drawn from: the same names, the same batch. */
export interface Streams {
  readonly tasks: readonly (string | number)[];
  readonly names: readonly (string | number)[];
  readonly episodes: readonly (string | number)[];
}

/** Where and how a batch is played. */
export interface Play {
  readonly update: number;
  readonly level: number;
  readonly temperature: number;
  readonly streams: Streams;
}

/** Makes the reference the policy as it is now, where it follows the policy and that is due. */
export async function followPolicy({ setup, trainer, lagged }: TrainingRun, update: number): Promise<void> {
  const { referenceLag } = setup.algorithm.needs;
  if (!lagged || referenceLag === undefined || (update - 1) % referenceLag !== 0) return;
  const { values } = await trainer.download();
  adopt(setup.layout, values, lagged.layout, lagged.weights);
}

/** The tasks of a batch, each with a V* where the algorithm needs one. */
export async function drawTasks(run: TrainingRun, { update, level, streams }: Play): Promise<Task[]> {
  const count = Math.ceil(run.config.training.batch / run.setup.algorithm.needs.group);
  return run.recorder.time('system/time.vstar', async () => {
    const drawable = await drawableTasks(run, level, update);
    const drawn = run.tasks.draw(drawable, count, Random.from(...streams.tasks));
    await valueTasks(run, drawn, level, update);
    return drawn;
  });
}

/** Plays each task as often as the algorithm's group is large, with the current policy. */
export async function playTasks(run: TrainingRun, tasks: readonly Task[], play: Play): Promise<Episode[]> {
  const { config, policy, vstar, signal } = run;
  const { update, level, temperature, streams } = play;
  const { needs } = run.setup.algorithm;
  const requests = tasks.flatMap((task, index) => {
    const relabel = groupNames(config, needs.group, ...streams.names, index);
    return Array.from({ length: needs.group }, (_, copy) => {
      const seed = Random.from(...streams.episodes, index, copy).integer();
      return { task, seed, purpose: 'train' as const, update, relabel, level };
    });
  });
  const draw = drawAt(temperature, config.training.minP);
  const episodes = await run.recorder.time('system/time.rollout', () => rollout(policy, requests, draw, { signal }));
  for (const [index, { trajectory }] of episodes.entries()) {
    diagnoseTrajectory(trajectory, policy.environment, at(requests, index).task, level);
    if (needs.vstar) trajectory.vstar = vstar.of(trajectory.task, level).value;
  }
  return episodes;
}

/** Plays on from the state before every turn, where the algorithm gives credit by what that collects. */
export async function playBranchesOf(run: TrainingRun, episodes: readonly Episode[], play: Play): Promise<Branches | undefined> {
  const { branches, vstar } = run.setup.algorithm.needs;
  if (!branches) return undefined;
  const { training } = run.config;
  const ofPolicy = branches.by === 'policy';
  const { continuations, cost } = await run.recorder.time('system/time.branch', () =>
    playBranches(
      ofPolicy ? run.policy : run.reference,
      episodes,
      {
        count: branches.count,
        first: vstar ? 1 : 0, // the value of the beginning is V*
        name: [...play.streams.episodes],
        draw: ofPolicy ? drawAt(play.temperature, training.minP) : drawAt(1),
      },
      { signal: run.signal },
    ),
  );
  run.recorder.record({ 'branch.episodes': cost.episodes, 'branch.steps': cost.steps, 'branch.tokens': cost.tokens });
  return continuations.map((turns) =>
    turns.map((list, turn) => list.map(({ steps, success }) => turnRewards({ steps: steps.slice(turn), success }, training.reward))),
  );
}

/** log π_ref and the critic's values of every token, as far as the algorithm needs them. */
export async function scoreEpisodes({ recorder, learner, signal }: TrainingRun, episodes: readonly Episode[]): Promise<void> {
  recorder.record(await recorder.time('system/time.scoring', () => learner.score(episodes, signal)));
}

/** Gradients of the algorithm's loss, clipping, AdamW; undefined when the algorithm kept no episode. */
export async function learn(
  { recorder, learner, reporter, signal }: TrainingRun,
  episodes: readonly Episode[],
  prepared: Prepared,
  { update, learningRate }: { readonly update: number; readonly learningRate: number },
): Promise<LearningReport | undefined> {
  const step = await recorder.time('system/time.update', () => learner.update(episodes, prepared, { update, learningRate, signal }));
  if (step?.shrunkTo !== undefined) await reporter.smallerBatches(update, step.shrunkTo);
  return step;
}
