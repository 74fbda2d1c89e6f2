// Credit by the turn against PyTorch, in the layout of the authors' code (test/golden/make_credit.py), and what must hold whatever the numbers.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Branches, creditSettings, groupCredit, returnsToGo, turnTargets } from '../../main/algorithm/credit.ts';
import type { Algorithm } from '../../main/algorithm/algorithm.ts';
import { resourceFile } from '../../main/base/paths.ts';
import { toolbox } from '../../main/plugin/toolbox.ts';
import type { RewardKind } from '../../main/algorithm/vstar.ts';
import { mean } from '../../main/base/statistics.ts';
import type { Trajectory } from '../../main/rollout/trajectory.ts';
import { type PlainEpisode, type PlainStep, runLoss, trajectory } from './batch.ts';
import { algorithmOf, glossary } from '../catalog.ts';

interface Golden {
  readonly episodes: readonly (PlainEpisode & { readonly steps: readonly (PlainStep & { readonly state: string })[] })[];
  readonly branches: Branches;
  readonly logProbs: readonly number[];
  readonly cases: readonly {
    readonly id: string;
    readonly settings: Readonly<Record<string, unknown>>;
    readonly reward: RewardKind;
    readonly loss: number;
    readonly gradient: readonly number[];
  }[];
}

const golden: Golden = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'golden', 'credit.json'), 'utf8'));
const atStates = (episode: Golden['episodes'][number], index: number): Trajectory => ({
  ...trajectory(episode),
  finalObservation: `end ${index}`,
  steps: trajectory(episode).steps.map((step, turn) => ({ ...step, observation: episode.steps[turn]!.state })),
});
const trajectories = golden.episodes.map(atStates);
const zeros = new Float32Array(golden.logProbs.length);
const leaves = { logProbs: Float32Array.from(golden.logProbs), entropies: zeros, values: zeros, kl: zeros };

for (const [index, { id, settings, reward, loss, gradient }] of golden.cases.entries()) {
  test(`${id} agrees with PyTorch to 1e-5 (case ${index}: ${JSON.stringify(settings)}, ${reward})`, async () => {
    const algorithm = algorithmOf({ id, ...settings });
    const prepared = algorithm.prepare(trajectories, { update: 0, updates: 10, reward, branches: golden.branches });
    const outcome = await runLoss(algorithm, trajectories, prepared, leaves);
    expect(Math.abs(outcome.loss - loss)).toBeLessThan(1e-5 * Math.max(1, Math.abs(loss)));
    const largest = Math.max(...gradient.map((expected, i) => Math.abs(outcome.gradients.logProbs[i]! - expected)));
    expect(largest).toBeLessThan(1e-5);
    for (const name of Object.keys(outcome.metrics)) expect(glossary.has(name), name).toBe(true);
  });
}

const SETTINGS = { credit: 'anchor', creditDiscount: 1, creditWeight: 1, creditHistory: 2, creditBranches: 1 } as const;

test('with γ = 1 the targets of an episode sum to its return less the value of its beginning, by every method', () => {
  const state = fc.constantFrom('s0', 's1', 's2', 's3');
  const episode = fc.record({
    task: fc.constantFrom('a', 'b'),
    success: fc.boolean(),
    states: fc.array(state, { minLength: 1, maxLength: 6 }),
    rewards: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 6, maxLength: 6 }),
    vstar: fc.integer({ min: -2, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(episode, { minLength: 1, maxLength: 8 }), fc.constantFrom('anchor', 'history', 'branch'), (episodes, credit) => {
      const made = episodes.map(({ task, success, states, rewards, vstar }, index) =>
        atStates(
          {
            task,
            success,
            vstar,
            return: 0,
            steps: states.map((name, i) => ({ state: name, reward: rewards[i]!, logProbs: [-1], reference: [-1], values: [0] })),
          },
          index,
        ),
      );
      const branches = made.map(({ steps }) => steps.map((_, turn) => [[turn, 1], [2]]));
      const targets = turnTargets(made, { ...SETTINGS, credit }, { reward: 'shaped', branches }, mean);
      for (const [i, { steps, vstar }] of made.entries()) {
        const total = steps.reduce((sum, { reward }) => sum + reward, 0);
        expect(targets[i]!.reduce((sum, value) => sum + value, 0)).toBeCloseTo(total - vstar!, 4);
      }
    }),
    { seed: 1, numRuns: 200 },
  );
});

test('turns that nobody else shares get no credit of their own, and neither do groups without spread', () => {
  const lonely = golden.episodes.slice(0, 1).map(atStates);
  for (const credit of ['anchor', 'history', 'graph'] as const) {
    const [turns] = groupCredit(lonely, { ...SETTINGS, credit, divideBySpread: true }, { reward: 'binary' });
    expect([...turns!]).toEqual([0, 0, 0]);
  }
  const failed = golden.episodes.filter(({ task }) => task === 'c').map(atStates);
  for (const credit of ['anchor', 'history', 'graph'] as const)
    for (const turns of groupCredit(failed, { ...SETTINGS, credit, divideBySpread: true }, { reward: 'binary' }))
      expect([...turns].every((value) => value === 0)).toBe(true);
});

test('branches are asked for by whom they are to be played', () => {
  expect(algorithmOf({ id: 'grpo', credit: 'branch', creditBranches: 9 }).needs.branches).toEqual({ count: 9, by: 'policy' });
  expect(algorithmOf({ id: 'astar-po', credit: 'branch' }).needs.branches).toEqual({ count: 4, by: 'reference' });
  expect(algorithmOf({ id: 'grpo' }).needs.branches).toBeUndefined();
  expect(() => turnTargets(trajectories, { ...SETTINGS, credit: 'branch' }, { reward: 'binary' }, mean)).toThrow('none were played');
  expect(Object.keys(creditSettings).every((name) => name.startsWith('credit'))).toBe(true);
});

test('returns from each turn on', () => {
  expect(returnsToGo([1, 0, 2], 0.5)).toEqual([1.5, 1, 2]);
  expect(returnsToGo([], 0.5)).toEqual([]);
});

test('GiGPO as a plug-in from outside gives the advantages of the built-in one, in at most 80 lines', async () => {
  const file = resourceFile('plugin', 'examples', 'gigpo', 'plugin.ts');
  expect(readFileSync(file, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  const { default: plugin }: { default: (lab: typeof toolbox) => { algorithms: Algorithm[] } } = await import(file);
  const [outside] = plugin(toolbox).algorithms;
  const progress = { update: 0, updates: 1, reward: 'binary' as const };
  const settings = outside!.settings.parse({});
  const theirs = outside!.prepare(trajectories, settings, progress).token.advantage;
  const ours = algorithmOf({ id: 'grpo', credit: 'anchor' }).prepare(trajectories, progress).token.advantage;
  expect(theirs!.map((list) => [...list])).toEqual(ours!.map((list) => [...list].map((value) => expect.closeTo(value, 5))));
});
