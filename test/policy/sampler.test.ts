// What a rollout can rely on: the sampler's numbers are the scorer's, masks are kept exactly, and an episode is the same in
// whatever company it is played.

import { describe, expect, it } from 'vitest';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import type { SampledEpisode } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';
import { Babble, config, keptToTheEnd, weightsOf } from './babble.ts';

const keep = keptToTheEnd();

async function play(sampler: Sampler, seeds: readonly number[], settings = {}): Promise<Babble[]> {
  const episodes = seeds.map((seed) => new Babble(seed));
  await sampler.run(episodes, settings);
  return episodes;
}

const seeds = Array.from({ length: 12 }, (_, i) => i);
const weights = weightsOf(config, 1);

describe('the sampler', () => {
  it.each([
    ['with every aid', config],
    [
      'without aids, with a cheap gate',
      { ...config, gate: 'relu' as const, valueHead: false, aids: { matchFlag: false, pointer: false, tokenShift: 0 } },
    ],
  ])('agrees with the scorer on log-probabilities and entropies to 1e-4 %s', async (_, model) => {
    const flat = weightsOf(model, 3);
    const episodes = await play(keep(new Sampler(model, flat, { capacity: 5, threads: 1 })), seeds);
    const scores = await keep(new Scorer(model, flat, { threads: 1 })).score(
      new PackedBatch(
        episodes.map(({ rows }) => rows),
        model,
      ),
    );
    let tokens = 0;
    for (const [e, { drawn }] of episodes.entries()) {
      expect(scores.logProbs[e]?.length).toBe(drawn.length);
      for (const [i, { logProb, entropy }] of drawn.entries()) {
        expect(Math.abs(logProb - (scores.logProbs[e]?.[i] ?? Number.NaN))).toBeLessThan(1e-4);
        expect(Math.abs(entropy - (scores.entropies[e]?.[i] ?? Number.NaN))).toBeLessThan(1e-4);
        tokens++;
      }
    }
    expect(tokens).toBeGreaterThan(60);
    expect(episodes.some(({ rows }) => rows.length > 1)).toBe(true);
    expect(scores.values === undefined).toBe(!model.valueHead);
  });

  it('plays an episode the same alone, in a small batch, in a large one and in another order', async () => {
    const alone = keep(new Sampler(config, weights, { capacity: 1, threads: 1 }));
    const reference: Babble[] = [];
    for (const seed of seeds) reference.push(...(await play(alone, [seed])));
    const companies: [Sampler, number[]][] = [
      [keep(new Sampler(config, weights, { capacity: 3, threads: 2 })), seeds],
      [keep(new Sampler(config, weights, { capacity: 64, threads: 1 })), seeds.toReversed()],
      [keep(new Sampler(config, weights, { capacity: 7, threads: 1 })), seeds.toSorted((a, b) => (a % 5) - (b % 5))],
    ];
    for (const [sampler, order] of companies) {
      const episodes = await play(sampler, order);
      for (const [i, seed] of order.entries()) {
        const [mine, other] = [episodes[i]?.drawn ?? [], reference[seed]?.drawn ?? []];
        expect(mine.map(({ token }) => token)).toEqual(other.map(({ token }) => token));
        for (const [k, { logProb }] of mine.entries()) expect(Math.abs(logProb - (other[k]?.logProb ?? Number.NaN))).toBeLessThan(1e-5);
      }
    }
  });

  it('never draws a token that the mask forbids, and a single allowed token has probability one', async () => {
    const episodes = await play(keep(new Sampler(config, weights, { capacity: 16, threads: 1 })), seeds);
    for (const { drawn, rows } of episodes) {
      const agent = rows.flatMap((row) => row.agent);
      for (const [i, { mask }] of agent.entries()) {
        expect(mask.allowed).toContain(drawn[i]?.token);
        for (const { token } of drawn[i]?.top ?? []) expect(mask.allowed).toContain(token);
        if (mask.allowed.length > 1) continue;
        expect(drawn[i]?.logProb).toBeCloseTo(0, 12);
        expect(drawn[i]?.entropy).toBe(0);
      }
    }
  });

  it('plays with new weights at once after a training step, as one made with them does', async () => {
    const live = weightsOf(config, 5);
    const sampler = keep(new Sampler(config, live, { capacity: 4, threads: 1 }));
    const before = await play(sampler, seeds);
    const other = weightsOf(config, 6);
    live.decay.set(other.decay);
    live.plain.set(other.plain);
    const fresh = keep(new Sampler(config, other, { capacity: 4, threads: 1 }));
    const [after, swapped] = [await play(sampler, seeds), await play(fresh, seeds)];
    const said = (episodes: Babble[]): number[] => episodes.flatMap(({ drawn }) => drawn.map(({ token }) => token));
    expect(said(after)).not.toEqual(said(before));
    expect(said(after)).toEqual(said(swapped));
  });

  it('ends between calls when its signal is aborted, and refuses an episode that outgrows the context', async () => {
    const sampler = keep(new Sampler(config, weights, { capacity: 4, threads: 1 }));
    let calls = 0;
    const episodes = seeds.map((seed) => new Babble(seed));
    const controller = new AbortController();
    const { signal } = controller;
    signal.throwIfAborted = () => {
      if (calls++ === 3) controller.abort(new Error('stop here'));
      AbortSignal.prototype.throwIfAborted.call(signal);
    };
    await expect(sampler.run(episodes, {}, { signal })).rejects.toThrow('stop here');
    expect(calls).toBe(4);
    expect(episodes.some(({ done }) => !done)).toBe(true);
    const long: SampledEpisode = {
      random: Random.from('x'),
      done: false,
      mask: undefined,
      take: () => ({ tokens: Array(97).fill(1), flags: Array(97).fill(0), newRow: true }),
      accept: () => undefined,
    };
    await expect(sampler.run([long])).rejects.toThrow("97 tokens does not fit the model's context of 96");
  });
});

describe('the scorer', () => {
  it('gives a KL of zero against itself, and the sum over the vocabulary against another policy', async () => {
    const episodes = await play(keep(new Sampler(config, weights, { capacity: 8, threads: 1 })), seeds);
    const batch = new PackedBatch(
      episodes.map(({ rows }) => rows),
      config,
    );
    const scorer = keep(new Scorer(config, weights, { threads: 1 }));
    const another = keep(new Scorer(config, weightsOf(config, 2), { threads: 1 }));
    const [own, other] = [await scorer.logits(batch), await another.logits(batch)];
    const softmax = (logits: number[]): number[] => {
      const most = Math.max(...logits);
      const weights = logits.map((logit) => Math.exp(logit - most));
      const sum = weights.reduce((a, b) => a + b);
      return weights.map((weight) => weight / sum);
    };
    const at = (value: typeof own, row: number, a: number): number[] => {
      const start = (row * batch.shape.agentTokens + a) * config.vocabulary;
      return Array.from(value.data.slice(start, start + config.vocabulary), Number);
    };
    const expected = (reference: typeof own): number => {
      let sum = 0;
      for (const [row, { agent }] of episodes.flatMap(({ rows }) => rows).entries()) {
        for (const a of agent.keys()) {
          const [p, q] = [softmax(at(own, row, a)), softmax(at(reference, row, a))];
          sum += p.reduce((total, x, i) => total + (x > 0 ? x * Math.log(x / (q[i] ?? 0)) : 0), 0);
        }
      }
      return sum;
    };
    const loss = policyObjective(config, batch.shape, { referenceLogits: true }, (_graph, { kl, tokenMean }) => {
      if (!kl) throw new Error('The KL is missing');
      return { loss: tokenMean(kl) };
    });
    const trainer = keep(
      new Trainer({ layout: modelLayout(config), state: freshState(modelLayout(config), weights), session: { threads: 1 } }),
    );
    const measured = async (referenceLogits: typeof own): Promise<number> => {
      const feeds = { ...batch.feeds, ...PackedBatch.divisors(1, 1), referenceLogits };
      return (await trainer.gradients([{ key: 'kl', build: loss, feeds }])).report.loss;
    };
    expect(Math.abs(await measured(own))).toBeLessThan(1e-5);
    const sum = expected(other);
    expect(sum).toBeGreaterThan(0.1);
    expect(Math.abs((await measured(other)) - sum)).toBeLessThan(1e-4 * sum);
  });
});
