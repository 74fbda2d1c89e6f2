// Episodes of one task begin alike. Computing what they share once gives the numbers of separate sequences: log-probabilities, entropies and gradients.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { add, mul, neg, square } from '../../../main/engine/graph/operators.ts';
import { Trainer, freshState } from '../../../main/engine/runtime/training-step.ts';
import { Cache } from '../../../main/policy/sampling/cache.ts';
import { forestOf, usedLength } from '../../../main/policy/transformer/forest.ts';
import type { TokenMask } from '../../../main/policy/text/grammar-mask.ts';
import { tokenMask } from '../../../main/policy/text/grammar-mask.ts';
import { modelNetwork } from '../../../main/policy/model/model-network.ts';
import { ModelRegistry } from '../../../main/policy/model/files/registry.ts';
import type { PolicyNetwork } from '../../../main/policy/transformer/network.ts';
import type { EncodedRow } from '../../../main/policy/text/prompt.ts';
import { Sampler } from '../../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../../main/policy/transformer/scorer.ts';
import { isShared } from '../../../main/policy/transformer/shared-batch.ts';
import { Random } from '../../../main/base/random.ts';
import { type LossDefinition, MinibatchTrainer } from '../../../main/training/batching/minibatch.ts';
import { Babble } from '../babble.ts';
import { writeTinyModel } from './tiny-model.ts';

const CONTEXT = 96;
const folder = mkdtempSync(join(tmpdir(), 'astrolab-shared-'));
const data = mkdtempSync(join(tmpdir(), 'astrolab-shared-data-'));
afterAll(() => [folder, data].forEach((each) => rmSync(each, { recursive: true, force: true })));
writeTinyModel(folder);
const registry = new ModelRegistry(data);
registry.add(folder, 'tiny');
const { config, weights, hash } = registry.open('tiny');
const lora = { rank: 4, alpha: 8, targets: ['q_proj', 'v_proj', 'up_proj', 'down_proj'] as const };
const together = modelNetwork({ config, weights, hash, trained: { ...lora, targets: [...lora.targets] }, contextLength: CONTEXT });
const apart: PolicyNetwork = { ...together, shares: false };
const random = Random.from('shared');
const values = together.layout.initialise(() => 0.3 * random.normal());
for (const group of together.layout.groups) values[group].forEach((_, i, all) => (all[i] = 0.05 * random.normal()));

const MASKS: readonly TokenMask[] = [tokenMask([5, 6, 7, 8]), tokenMask([9, 10, 11])];
const word = (): number => 12 + random.below(30);

/** An episode of two answers: what was said first decides the page that follows. */
function episode(task: readonly number[], first: number, last: number): EncodedRow[] {
  const page = Array.from({ length: 20 }, (_, i) => 12 + ((first * 7 + i * 3) % 30));
  const tokens = [...task, 5 + first, ...page, 9 + last, 3];
  const agent = [
    { position: task.length - 1, target: 5 + first, mask: MASKS[0]! },
    { position: task.length + page.length, target: 9 + last, mask: MASKS[1]! },
  ];
  return [{ tokens, flags: tokens.map(() => 0), agent }];
}

const TASKS = Array.from({ length: 5 }, (_, i) => Array.from({ length: 15 + 4 * i }, word));
const EPISODES = TASKS.flatMap((task, t) => Array.from({ length: 6 }, (_, copy) => episode(task, (t * copy) % 3, copy % 3)));
const samples = EPISODES.map((rows, i) => ({
  rows,
  episode: { advantage: Math.sin(i) },
  token: { old: Float32Array.from([0.1 * i, -0.2]) },
}));

const LOSS: LossDefinition = {
  name: 'mixed',
  options: {},
  loss: (_graph, policy, input) => {
    const ratios = policy.episodeMean(square(add(policy.perEpisode(policy.logProbs), input('advantage', 'episode'))));
    const tokens = policy.tokenMean(mul(policy.logProbs, input('old', 'token')));
    return { loss: add(add(ratios, tokens), neg(policy.tokenMean(policy.entropies))) };
  },
};

async function gradientOf(network: PolicyNetwork, recompute: boolean) {
  const trainer = new Trainer({ layout: network.layout, state: freshState(network.layout, values), session: { threads: 1 }, sessions: 8 });
  const minibatches = new MinibatchTrainer(trainer, network, { microBatch: 256, recompute, memory: Number.POSITIVE_INFINITY });
  const shapes = minibatches.cut(samples, LOSS).map(({ shape }) => shape);
  const gradient = await minibatches.gradient(samples, LOSS);
  const scorer = new Scorer(network, values, { threads: 1 });
  const scores = new Map<EncodedRow, number[]>();
  for (const { part, shape } of minibatches.cut(samples, LOSS)) {
    const { logProbs, entropies } = await scorer.score(minibatches.batch(part, shape));
    for (const [i, { rows }] of part.entries()) scores.set(rows[0]!, [...(logProbs[i] ?? []), ...(entropies[i] ?? [])]);
  }
  await scorer.dispose();
  await minibatches.dispose();
  await trainer.dispose();
  return { shapes, gradient, scores: EPISODES.map(([row]) => scores.get(row!) ?? []) };
}

/** Plays six episodes in each of four worlds; gives them with the number of tokens that the network has read. */
async function play(network: PolicyNetwork, capacity: number) {
  const read = vi.spyOn(Cache.prototype, 'append');
  const sampler = new Sampler(network, values, { capacity, threads: 1 });
  const episodes = Array.from({ length: 24 }, (_, i) => new Babble(i, Math.floor(i / 6)));
  await sampler.run(episodes);
  await sampler.dispose();
  const tokens = read.mock.calls.reduce((sum, [, , , , used]) => sum + used.reduce((all, count) => all + count, 0), 0);
  read.mockRestore();
  return { episodes, tokens };
}

describe('episodes that share their beginnings', () => {
  it.each([false, true])('are scored and learned from as separate sequences are (layers computed again: %s)', async (recompute) => {
    const [one, other] = [await gradientOf(together, recompute), await gradientOf(apart, recompute)];
    expect(one.shapes.every(isShared)).toBe(true);
    expect(other.shapes.some(isShared)).toBe(false);
    const size = (shapes: typeof one.shapes): number => shapes.reduce((sum, { rows, trees = rows, time }) => sum + trees * time, 0);
    expect(size(one.shapes)).toBeLessThan(size(other.shapes) / 2);
    for (const [i, numbers] of one.scores.entries()) {
      expect(numbers).toHaveLength(4);
      for (const [k, number] of numbers.entries()) expect(number).toBeCloseTo(other.scores[i]?.[k] ?? Number.NaN, 5);
    }
    const largest = Math.max(...other.gradient.decay.map(Math.abs));
    expect(largest).toBeGreaterThan(1e-3);
    for (const [i, number] of other.gradient.decay.entries())
      expect(Math.abs(number - (one.gradient.decay[i] ?? Number.NaN)) / largest).toBeLessThan(1e-4);
  });

  it.each([24, 7])('are played as they are apart, and what they share is read once (%i at a time)', async (capacity) => {
    const [one, other] = [await play(together, capacity), await play(apart, capacity)];
    expect(one.episodes.map(({ drawn }) => drawn.map(({ token }) => token))).toEqual(
      other.episodes.map(({ drawn }) => drawn.map(({ token }) => token)),
    );
    for (const [e, { drawn }] of one.episodes.entries())
      for (const [i, { logProb }] of drawn.entries()) expect(logProb).toBeCloseTo(other.episodes[e]?.drawn[i]?.logProb ?? Number.NaN, 4);
    expect(one.tokens).toBeLessThan(0.8 * other.tokens);
  });

  it('stand in trees that hold every token once and are no longer than the context', () => {
    const rows = EPISODES.flat();
    const { trees, paths } = forestOf(rows, CONTEXT);
    for (const [r, { tree, places }] of paths.entries()) {
      const row = rows[r]!;
      expect(places.map((place) => trees[tree]?.tokens[place])).toEqual(row.tokens.slice(0, usedLength(row)));
      for (const [depth, place] of places.entries()) {
        expect(trees[tree]?.depth[place]).toBe(depth);
        expect(trees[tree]?.before[place]).toBe(places[depth - 1] ?? -1);
      }
    }
    for (const { tokens, before } of trees) {
      expect(tokens.length).toBeLessThanOrEqual(CONTEXT);
      expect(new Set(tokens.map((token, i) => `${before[i]} ${token}`)).size).toBe(tokens.length);
    }
  });

  it('stay within the limits of a micro-batch however large a group is', async () => {
    const trainer = new Trainer({ layout: together.layout, state: freshState(together.layout, values), session: { threads: 1 } });
    const minibatches = new MinibatchTrainer(trainer, together, { microBatch: 256, recompute: false, memory: Number.POSITIVE_INFINITY });
    const task = TASKS[4]!;
    const group = Array.from({ length: 60 }, (_, i) => ({ ...samples[0]!, rows: episode(task, i % 20, i % 3) }));
    const cut = minibatches.cut(group, LOSS);
    expect(cut.flatMap(({ part }) => part)).toHaveLength(60);
    for (const { shape } of cut) {
      expect(isShared(shape)).toBe(true);
      expect((shape.trees ?? 0) * shape.time).toBeLessThanOrEqual(256);
    }
    await minibatches.dispose();
    await trainer.dispose();
  });

  it('go their own ways where they share too little', async () => {
    const trainer = new Trainer({ layout: together.layout, state: freshState(together.layout, values), session: { threads: 1 } });
    const minibatches = new MinibatchTrainer(trainer, together, { microBatch: 256, recompute: false, memory: Number.POSITIVE_INFINITY });
    const single = TASKS.map((task) => ({ ...samples[0]!, rows: episode(task, 0, 0) }));
    expect(minibatches.cut(single, LOSS).some(({ shape }) => isShared(shape))).toBe(false);
    await minibatches.dispose();
    await trainer.dispose();
  });
});
