// Runs that were really played, made in a second: agents without learning stand in for policies (one reads and solves most
// tasks, one does not), on the shop's held-out tasks. Their episodes have true token ids, so that replay, comparison
// and report have everything they have after training, and the tests know every number from the database.

import { trainHere } from '../../main/commands/train.ts';
import { evaluationSeed, playAgent, resultOf } from '../../main/evaluation/evaluate.ts';
import { diagnose } from '../../main/evaluation/failures.ts';
import { type AgentName, createAgent } from '../../main/environment/agents.ts';
import { Random } from '../../main/base/random.ts';
import { EpisodeInPlay } from '../../main/rollout/episode.ts';
import type { Trajectory } from '../../main/rollout/trajectory.ts';
import { Store } from '../../main/store/store.ts';
import { type RunSetup, worldHash } from '../../main/training/run-setup.ts';
import { applyOverrides, loadPreset, newRun, openRun } from '../catalog.ts';

export interface SeededRun {
  readonly variant: string;
  readonly seed: number;
  readonly agent: AgentName;
}

export const UPDATES = 6;

/** Makes the runs in a data folder; their ids are 1, 2, … in this order. */
export function seed(dataFolder: string, runs: readonly SeededRun[], tasks: number): void {
  const store = Store.open(dataFolder);
  const preset = loadPreset('shop-tiny').config;
  let setup: RunSetup | undefined;
  for (const { variant, seed: number, agent } of runs) {
    const config = applyOverrides(preset, [`algorithm.id=${variant}`, `seed=${number}`, `name=${variant} ${agent}`]);
    setup ??= openRun(config);
    const run = store.runs.create(newRun(config, 'shop-tiny'));
    const random = Random.from('seeded', run.id);
    for (let update = 0; update <= UPDATES; update += 2) {
      // As in training: less and less of what it says is said by chance.
      const chance = 1 - update / UPDATES;
      evaluate(store, setup, run.id, agent, update, tasks, update === UPDATES ? 'final' : 'periodic', () => random.next() < chance);
      store.metrics.append(run.id, update, { 'rollout.success': update / UPDATES, episodes: update * 16 });
    }
    store.runs.change(run.id, { state: 'done', updates: UPDATES, episodes: tasks * 4, position: null });
  }
  store.close();
}

function evaluate(
  store: Store,
  setup: RunSetup,
  run: number,
  agent: AgentName,
  update: number,
  count: number,
  kind: 'periodic' | 'final',
  byChance: () => boolean,
): void {
  const { environment, world } = setup;
  const tasks = environment.tasks('test').slice(0, count);
  const episodes = tasks.map((task): Trajectory => {
    const seedOfTask = evaluationSeed(task, 0);
    const played = playAgent(environment, createAgent(world, byChance() ? 'random' : agent), task, seedOfTask);
    const episode = new EpisodeInPlay(environment, setup.codec, {
      task,
      seed: seedOfTask,
      purpose: 'evaluation',
      update,
      relabel: false,
      level: undefined,
    });
    for (const { action } of played.steps) {
      if (!episode.done) episode.force({ thought: '', action });
    }
    const { trajectory } = episode.finish();
    trajectory.failure = diagnose(environment, trajectory, { reachable: true })?.failure ?? null;
    return trajectory;
  });
  const stored = store.trajectories.add(run, update, episodes);
  const report = {
    update,
    kind,
    agent: 'policy',
    world: 'shop',
    worldHash: worldHash(environment, environment.levels - 1),
    split: 'test' as const,
    temperature: 0,
    seconds: 1,
    results: episodes.map(resultOf),
  };
  store.evaluations.add(run, report, stored);
}

/** Really trains a very small run to its end, with a checkpoint after each of its updates. Returns its id. */
export async function trainSmall(dataFolder: string, updates: number): Promise<number> {
  const store = Store.open(dataFolder);
  try {
    const config = applyOverrides(loadPreset('shop-tiny').config, [
      'name=small',
      'threads=1',
      'reference.demonstrations=120',
      'reference.steps=30',
      'reference.checkEvery=30',
      'reference.checkTasks=8',
      'vstar.samples=2',
      'training.batch=8',
      'training.tasks=8',
      `training.updates=${updates}`,
      'evaluation.every=1',
      'evaluation.tasks=8',
      'evaluation.finalTasks=8',
      'checkpoints.every=1',
    ]);
    const run = store.runs.create(newRun(config, 'shop-tiny'));
    await trainHere(store, run.id);
    const { state, reason } = store.runs.get(run.id);
    if (state !== 'done') throw new Error(`The small run is ${state}: ${reason}`);
    return run.id;
  } finally {
    store.close();
  }
}
