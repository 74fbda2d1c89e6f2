// Small runs for the tests of clusters, and all that must be the same of a run wherever it was trained: every metric that is not a time,
// what was evaluated, the episodes, the weights with the optimizer's state.

import { readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import type { Store } from '../../main/store/store.ts';
import type { WantedRun } from '../../main/study/work.ts';
import { applyOverrides, loadPreset } from '../catalog.ts';

const SETTINGS = [
  'threads=1',
  'reference.demonstrations=48',
  'reference.steps=12',
  'reference.checkTasks=4',
  'training.tasks=8',
  'training.batch=4',
  'evaluation.tasks=4',
  'evaluation.finalTasks=6',
  'checkpoints.every=2',
];

export function smallRuns(seeds: readonly number[], updates: number, changes: readonly string[] = []): WantedRun[] {
  const settings = [...SETTINGS, `training.updates=${updates}`, `evaluation.every=${updates / 2}`, ...changes];
  return seeds.map((seed) => ({
    config: applyOverrides(loadPreset('shop-tiny').config, [...settings, `seed=${seed}`]),
    preset: 'shop-tiny',
    tags: ['small'],
  }));
}

/** `vstar.cached` says who sampled, which differs; what was sampled does not. */
const OF_THE_MACHINE = (name: string): boolean => name.startsWith('system/') || name === 'vstar.cached';

export function outcome(store: Store, id: number): unknown {
  const { state, updates, episodes, tokens, seed } = store.runs.get(id);
  const names = store.metrics.names(id).filter((name) => !OF_THE_MACHINE(name));
  const series = store.metrics.many(id, names);
  const [last] = store.checkpoints.list(id).slice(-1);
  const played = [...store.episodes.each(id)].filter(({ purpose }) => purpose === 'train');
  return {
    run: { state, updates, episodes, tokens, seed },
    metrics: names.map((name) => [name, [...(series[name]?.updates ?? [])], [...(series[name]?.values ?? [])]]),
    weights: last && [last.update, [...readCheckpoint(store.checkpoints.path(last)).tensors]],
    results: store.evaluations
      .list(id)
      .map((one) => [one.update, one.kind, store.evaluations.results(one.id).map((result) => ({ ...result, episode: null }))]),
    episodes: played.map(({ id: episode, update }) => [update, store.trajectories.read(episode)]),
    vstar: store.vstar.ofRun(id),
  };
}
