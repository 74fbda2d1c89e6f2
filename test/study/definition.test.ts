// Study definitions and search spaces as data: everything in them fits the schema of a run.

import { expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { loadDefinition, parseDefinition, studyIds } from '../../main/study/definition.ts';
import type { RunConfig } from '../../main/config/config.ts';
import { powerOf } from '../../main/evaluation/inference.ts';
import { decide } from '../../main/study/findings.ts';
import { changesSince, freeze } from '../../main/study/freeze.ts';
import { failureClasses } from '../../main/environment/failures.ts';
import { armConfig, armsToTune, planRuns } from '../../main/study/plan.ts';
import { ASSUMED, planStudy, powerAt, worldComponents } from '../../main/study/planner.ts';
import { SEARCH_SPACES, trialSettings } from '../../main/study/search-space.ts';
import { trialConfig } from '../../main/study/tune.ts';
import { flatten } from '../../main/config/overrides.ts';
import { seed as seedRuns } from '../e2e/seeded.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { algorithmOf, applyOverrides, findWorld } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

/** Optimizer steps that an algorithm takes on the episodes of one update. */
function stepsPerUpdate({ algorithm }: Pick<RunConfig, 'algorithm'>): number {
  const { epochs, minibatches } = algorithmOf(algorithm).needs;
  return epochs * minibatches;
}

const seeds = loadDefinition(BUILT_IN, 'seeds');
const plan = { updates: seeds.updates, seeds: seeds.seeds, only: null, set: [] };

test('every definition that is shipped makes valid configs for every arm and seed', () => {
  for (const id of studyIds(BUILT_IN)) {
    const definition = loadDefinition(BUILT_IN, id);
    const runs = planRuns(BUILT_IN, definition, { ...plan, updates: definition.updates, seeds: definition.seeds }, {});
    expect(new Set(runs.map(({ arm }) => arm)).size).toBe(definition.arms.length);
  }
});

test('every definition that is shipped can be frozen and decided, and its worlds take its settings and know what its claims measure', () => {
  for (const id of studyIds(BUILT_IN)) {
    const definition = loadDefinition(BUILT_IN, id);
    const frozen = freeze(definition, new Date(0));
    expect(changesSince(frozen, definition)).toEqual([]);
    expect(changesSince(frozen, { ...definition, updates: definition.updates + 1 }).map(({ key }) => key)).toEqual(['updates']);
    const undecided = decide(BUILT_IN, definition, new Map(), (arm) => arm);
    expect(undecided.map(({ verdict }) => verdict)).toEqual(definition.claims.map(() => 'inconclusive'));
    const failures = definition.arms.flatMap((arm) => {
      const { name, settings } = armConfig(BUILT_IN, definition, arm, { ...plan, updates: definition.updates }, {}).world;
      const world = findWorld(name);
      expect(world.settings.parse(settings)).toMatchObject(settings);
      return failureClasses(world.failures).map((one) => one.id);
    });
    for (const { measure } of definition.claims.flatMap(({ tests }) => tests)) expect(['success', ...failures]).toContain(measure);
  }
});

test('the study of the seeds has all eight variants with five seeds, tuned, on an equal budget', () => {
  const runs = planRuns(BUILT_IN, seeds, plan, {});
  const tuned = armsToTune(seeds, null).map(({ id }) => id);
  expect(tuned).toEqual(['astar-po', 'astar-pg', 'weighted-sft', 'reinforce', 'reinforce-fixed', 'hybrid', 'ppo', 'grpo']);
  for (const variant of tuned) expect(runs.filter(({ arm, config }) => arm === variant && config.algorithm.id === variant)).toHaveLength(5);
  const budgets = new Set(runs.map(({ config }) => `${config.training.updates} × ${config.training.batch}, ${config.threads} thread`));
  expect(budgets.size).toBe(1);
  expect([...budgets][0]).toMatch(new RegExp(`^${seeds.updates} × \\d+, 1 thread$`));
});

test('one number changes the budget, and what depends on it follows', () => {
  const [run] = planRuns(BUILT_IN, seeds, { ...plan, updates: 100 }, {});
  expect(run?.config.training.updates).toBe(100);
  expect(run?.config.evaluation.every).toBe(20);
  expect(run?.config.checkpoints.every).toBe(50);
});

test('an arm that is like another has its tuned settings, also those that another variant shares', () => {
  const tuned = { reinforce: { 'training.learningRate': 0.0007, 'algorithm.entropyBonus': 0.004 } };
  const runs = planRuns(BUILT_IN, seeds, { ...plan, only: ['reinforce', 'reinforce-kl'] }, tuned);
  const [plain, withKl] = ['reinforce', 'reinforce-kl'].map((id) => flatten(runs.find(({ arm }) => arm === id)?.config));
  const differ = [...(withKl ?? [])]
    .filter(([key, value]) => JSON.stringify(plain?.get(key)) !== JSON.stringify(value))
    .map(([key]) => key);
  expect(differ.sort()).toEqual([
    'algorithm.clipFloor',
    'algorithm.clipSpread',
    'algorithm.id',
    'algorithm.klCoefficient',
    'algorithm.klEstimator',
    'name',
  ]);
  expect(withKl?.get('algorithm.entropyBonus')).toBe(0.004);
  expect(withKl?.get('training.learningRate')).toBe(0.0007);
});

test('a wrong definition is refused with the place of its fault', () => {
  const wrong = { ...seeds, claims: [{ ...seeds.claims[0], tests: [{ a: 'astar-po', b: 'nobody', expect: 'higher' }] }] };
  expect(() => parseDefinition(BUILT_IN, wrong, 'mine')).toThrow(/mine is wrong[\s\S]*nobody[\s\S]*claims\[0\]/);
  expect(() => parseDefinition(BUILT_IN, { ...seeds, tuning: { ...seeds.tuning, seed: 1 } }, 'mine')).toThrow(/does not use itself/);
  expect(() => loadDefinition(BUILT_IN, 'no-such')).toThrow(/There are .*seeds/);
});

test('search spaces lie inside the ranges of their knobs, and every variant has one', () => {
  expect(builtInAlgorithms.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(SEARCH_SPACES)));
  expect(Object.keys(SEARCH_SPACES)).toEqual(expect.arrayContaining(armsToTune(seeds, null).map(({ id }) => id)));
  for (const [variant, knobs] of Object.entries(SEARCH_SPACES)) {
    expect(knobs[0]?.key).toBe('training.learningRate');
    expect(knobs.length).toBeLessThanOrEqual(3);
    for (const { key, low, high } of knobs)
      for (const value of [low, high]) {
        const config = applyOverrides({}, [`algorithm=${variant}`, `${key}=${value}`]);
        expect(flatten(config).get(key)).toBe(value);
      }
  }
});

test('trial 0 is the default, and a knob that variants share takes the same values in all of them', () => {
  expect(trialSettings(BUILT_IN, 'ppo', 0, 101)).toEqual({});
  const rates = Object.keys(SEARCH_SPACES).map((id) =>
    [1, 2, 3].map((trial) => trialSettings(BUILT_IN, id, trial, 101)['training.learningRate']),
  );
  for (const own of rates) expect(own).toEqual(rates[0]);
  expect(new Set(rates[0]).size).toBe(3);
  expect(trialSettings(BUILT_IN, 'ppo', 1, 102)).not.toEqual(trialSettings(BUILT_IN, 'ppo', 1, 101));
});

test('a few trials are spread over the whole range of the learning rate', () => {
  const places = Array.from({ length: 8 }, (_, index) => {
    const rate = Number(trialSettings(BUILT_IN, 'reinforce', index + 1, 5)['training.learningRate']);
    return Math.log(rate / 2e-4) / Math.log(3e-3 / 2e-4);
  }).sort((a, b) => a - b);
  const gaps = places.slice(1).map((place, index) => place - (places[index] ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(0.3);
});

test('trials are judged on the same validation tasks and never play the test', () => {
  const subjects = planRuns(BUILT_IN, seeds, { ...plan, only: ['astar-po', 'grpo'] }, {});
  for (const { arm, config } of subjects) {
    const trial = trialConfig(BUILT_IN, { id: arm, preset: 'shop-demo', config }, 2, seeds.tuning);
    expect(trial.evaluation).toMatchObject({ split: 'validation', tasks: seeds.tuning.tasks, finalTasks: 0 });
    expect(trial.seed).toBe(seeds.tuning.seed);
    expect(trial.training.updates).toBe(config.training.updates);
  }
});

test('the old claims have ten seeds for the eight algorithms, fixed settings, a margin of three points, and PPO and GRPO with equal optimizer steps too', () => {
  const definition = loadDefinition(BUILT_IN, 'old-claims');
  expect(definition).toMatchObject({ margin: 0.03, seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
  expect(armsToTune(definition, null)).toEqual([]);
  const runs = planRuns(BUILT_IN, definition, { ...plan, updates: definition.updates, seeds: definition.seeds }, {});
  const stepsOf = (id: string): number[] => runs.flatMap(({ arm, config }) => (arm === id ? stepsPerUpdate(config) : []));
  const old = builtInAlgorithms.filter(({ id }) => id !== 'expert-iteration' && id !== 'oapl');
  for (const { id } of old) expect(stepsOf(id)).toHaveLength(10);
  for (const id of ['ppo', 'grpo']) {
    expect(stepsOf(id)).toEqual(Array.from({ length: 10 }, () => 4));
    expect(stepsOf(`${id}-one-step`)).toEqual(Array.from({ length: 10 }, () => 1));
  }
  const others = runs.filter(({ arm }) => arm !== 'ppo' && arm !== 'grpo' && arm !== 'ppo-restricted');
  expect(new Set(others.map(({ config }) => stepsPerUpdate(config)))).toEqual(new Set([1]));
  // No arm without a claim, and the claims of the first version are all there.
  const tested = new Set(definition.claims.flatMap(({ tests }) => tests.flatMap(({ a, b }) => [a, b])));
  expect(definition.arms.filter(({ id }) => !tested.has(id))).toEqual([]);
  const ids = definition.claims.map(({ id }) => id);
  expect(ids.filter((id) => id !== 'astar-po-beats-equal-steps')).toEqual(seeds.claims.map(({ id }) => id));
});

test('the planner asks for more seeds when a difference is smaller or many tests are corrected for', () => {
  const question = { difference: 0.08, power: 0.8, clusterSize: 1, tests: 16 };
  const at = (difference: number) => planStudy(ASSUMED, { ...question, difference }).needed.find(({ tasks }) => tasks === 300);
  expect(at(0.08)?.alone).toBeLessThan(at(0.05)?.alone ?? 1000);
  expect(at(0.08)?.corrected ?? 1000).toBeGreaterThan(at(0.08)?.alone ?? 1000);
  const [row] = planStudy(ASSUMED, question).rows;
  expect(row?.alone).toBeCloseTo(powerOf(0.08, ASSUMED, { seeds: 3, tasks: 100, clusterSize: 1 }), 12);
  expect(powerAt(ASSUMED, question, { seeds: 3, tasks: 100 })).toEqual({ alone: row?.alone, corrected: row?.corrected });
});

test('the spread of a world is that of the settings with two seeds or more that were tested in it', () => {
  const folder = temporaryFolder();
  const of = (variant: 'grpo' | 'reinforce', number: number, agent: 'oracle' | 'blind') => ({ variant, seed: number, agent });
  seedRuns(folder, [of('grpo', 1, 'oracle'), of('grpo', 2, 'oracle'), of('reinforce', 1, 'blind')], 12);
  const store = openStore(folder);
  expect(worldComponents(store, 'shop')).toBeUndefined();
  store.close();
  seedRuns(folder, [of('reinforce', 2, 'blind')], 12);
  const more = openStore(folder);
  const spread = worldComponents(more, 'shop');
  expect(spread?.clusterSize).toBeGreaterThanOrEqual(1);
  expect(spread?.cluster).toBeGreaterThan(0);
  expect(worldComponents(more, 'maths')).toBeUndefined();
});
