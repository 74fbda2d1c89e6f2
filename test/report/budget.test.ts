// Equal numbers of updates are not equal budgets: what runs spent is counted, differences are named, and a study can remove them.

import { expect, test } from 'vitest';
import type { RunConfig } from '../../main/config/config.ts';
import { budgetOf, budgetsOf, unequalBudgets } from '../../main/report/budget.ts';
import { budgetText } from '../../main/report/report.ts';
import type { Store } from '../../main/store/store.ts';
import { countSteps } from '../../main/store/upgrade.ts';
import { loadDefinition, parseDefinition } from '../../main/study/definition.ts';
import { equalTokens, planRuns } from '../../main/study/plan.ts';
import { openStore } from '../store/helpers.ts';
import { newRun } from '../store/samples.ts';
import { algorithmOf } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

/** Optimizer steps that an algorithm takes on the episodes of one update. */
function stepsPerUpdate({ algorithm }: Pick<RunConfig, 'algorithm'>): number {
  const { epochs, minibatches } = algorithmOf(algorithm).needs;
  return epochs * minibatches;
}

/** A run of 5 updates, of which two kept fewer episodes or none. */
function run(store: Store, id: string) {
  const { id: run } = store.runs.create(newRun({ variant: id, config: { algorithm: { id } } }));
  store.runs.change(run, { state: 'done', updates: 5, episodes: 640, tokens: 9000 });
  [128, 128, 3, 0, 128].forEach((kept, index) => store.metrics.append(run, index + 1, { 'update.episodes': kept }));
  store.vstar.addToRun(run, id === 'astar-po' ? [1, 2].map((task) => ({ task: `t${task}`, update: 0, k: 1, n: 8, value: 0.5 })) : []);
  countSteps(BUILT_IN, store.metrics, run, store.runs.get(run).config);
  return store.runs.get(run);
}

test('optimizer steps that were not recorded are counted from the episodes that each update kept', () => {
  const store = openStore();
  expect(budgetOf(store, run(store, 'ppo'))).toEqual({
    episodes: 640,
    optimizerSteps: 4 + 4 + 3 + 0 + 4,
    tokens: 9000,
    vstarSamples: 0,
    branchEpisodes: 0,
  });
  expect(budgetOf(store, run(store, 'astar-po'))).toMatchObject({ optimizerSteps: 4, vstarSamples: 16 });
});

test('optimizer steps that were recorded stay as they are', () => {
  const store = openStore();
  const { id } = store.runs.create(newRun());
  [4, 8, 14].forEach((steps, index) => store.metrics.append(id, index + 1, { optimizerSteps: steps, 'update.episodes': 1 }));
  countSteps(BUILT_IN, store.metrics, id, store.runs.get(id).config);
  expect(budgetOf(store, store.runs.get(id)).optimizerSteps).toBe(14);
});

test('unequal budgets are named with the least and the most', () => {
  const store = openStore();
  const runs = [run(store, 'ppo'), run(store, 'astar-po')].map(({ id }) => id);
  const spent = budgetsOf(store, runs);
  expect(spent.unequal).toEqual([
    'optimizer steps from 4 (run 2, astar-po) to 15 (run 1, ppo)',
    'V* samples from 0 (run 1, ppo) to 16 (run 2, astar-po)',
  ]);
  expect(budgetText(spent)).toContain('Unequal budgets: optimizer steps from 4');
  const same = { episodes: 100, optimizerSteps: 10, tokens: 1000, vstarSamples: 0, branchEpisodes: 0 };
  expect(
    unequalBudgets([
      { name: 'a', budget: same },
      { name: 'b', budget: { ...same, tokens: 1090 } },
    ]),
  ).toEqual([]);
});

test('a study that equalises optimizer steps gives every algorithm one step an update, tuned or not', () => {
  const plan = { updates: 30, seeds: [1], only: null, set: [] };
  const definition = loadDefinition(BUILT_IN, 'seeds');
  const steps = (equalise: 'episodes' | 'optimizerSteps'): Set<number> =>
    new Set(
      planRuns(BUILT_IN, { ...definition, equalise }, plan, { ppo: { 'algorithm.minibatches': 8 } }).map(({ config }) =>
        stepsPerUpdate(config),
      ),
    );
  expect(steps('episodes')).toEqual(new Set([1, 4, 8]));
  expect(steps('optimizerSteps')).toEqual(new Set([1]));
  expect(parseDefinition(BUILT_IN, { ...definition, equalise: 'tokens' }, 'x').equalise).toBe('tokens');
});

test('a study that equalises tokens gives short episodes more updates', () => {
  const updates = equalTokens(
    new Map([
      ['short', 500],
      ['usual', 1000],
      ['long', 2000],
    ]),
    30,
  );
  expect(updates).toEqual({ short: 60, usual: 30, long: 15 });
  const [config] = planRuns(
    BUILT_IN,
    loadDefinition(BUILT_IN, 'seeds'),
    { updates: 30, seeds: [1], only: ['ppo'], set: [], updatesOf: { ppo: 15 } },
    {},
  );
  expect(config?.config.training.updates).toBe(15);
});
