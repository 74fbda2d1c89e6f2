// What runs whose words are read and said by their letters can rely on: the network is the ordinary one with an embedding that is added
// up from letters, in scores, samples and gradients; configs of before mean what they meant.

import { expect, it } from 'vitest';
import { neg } from '../../main/engine/graph/operators.ts';
import type { Flat } from '../../main/engine/graph/parameters.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { at } from '../../main/base/indexed.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { spellingsOf } from '../../main/policy/text/spelling.ts';
import { type ModelConfig, modelLayout } from '../../main/policy/transformer/transformer.ts';
import { Babble, config, keptToTheEnd, weightsOf } from './babble.ts';
import { openRun, parseConfig } from '../catalog.ts';

const keep = keptToTheEnd();

/** Of 40 tokens the last ten are words: `abc`, `bcd`, …, and one of them is longer. */
const spellings = Array.from({ length: config.vocabulary }, (_, token) =>
  token < 30 ? '' : 'abcdefghijklm'.slice(token - 30, token - 27 + (token === 35 ? 1 : 0)),
);
const spelled: ModelConfig = { ...config, spellings };
const letters = [...new Set(spellings.join(''))].sort().join('');

/** The rows of the embedding that make up a token, as the format says it: first the tokens without spelling, then places with letters. */
const rowsOf = (token: number): number[] =>
  token < 30 ? [token] : [...at(spellings, token)].map((letter, place) => 30 + place * letters.length + letters.indexOf(letter));

/** The same policy without spellings: every token's vector is the sum of its letters'. */
function withoutSpellings(weights: Flat): Flat {
  const [from, to] = [modelLayout(spelled), modelLayout(config)];
  const flat = weightsOf(config, 1);
  for (const { name } of to.specs) if (name !== 'embedding') to.view(flat, name).set(from.view(weights, name));
  const rows = from.view(weights, 'embedding');
  const embedding = to.view(flat, 'embedding');
  for (let token = 0; token < config.vocabulary; token++) {
    for (let k = 0; k < config.width; k++) {
      embedding[token * config.width + k] = rowsOf(token).reduce((sum, row) => sum + at(rows, row * config.width + k), 0);
    }
  }
  return flat;
}

async function sampled(model: ModelConfig, weights: Flat): Promise<Babble[]> {
  const episodes = Array.from({ length: 10 }, (_, seed) => new Babble(seed));
  await keep(new Sampler(model, weights, { capacity: 4, threads: 1 })).run(episodes);
  return episodes;
}

async function gradientOf(model: ModelConfig, weights: Flat, batch: PackedBatch): Promise<Float32Array> {
  const layout = modelLayout(model);
  const trainer = keep(new Trainer({ layout, state: freshState(layout, weights), session: { threads: 1 } }));
  const build = policyObjective(model, batch.shape, {}, (_graph, { logProbs, tokenMean }) => ({ loss: neg(tokenMean(logProbs)) }));
  const feeds = { ...batch.feeds, ...PackedBatch.divisors(1, batch.tokenCount) };
  const { gradients } = await trainer.gradients([{ key: 'one', build, feeds }]);
  return Float32Array.from(layout.view(gradients, 'embedding'));
}

it('is the network whose words are the sums of their letters: the same samples, scores and gradient', async () => {
  const weights = weightsOf(spelled, 3);
  const plain = withoutSpellings(weights);
  const episodes = await sampled(spelled, weights);
  const same = await sampled(config, plain);
  const batch = new PackedBatch(
    episodes.map(({ rows }) => rows),
    spelled,
  );
  const scores = await keep(new Scorer(spelled, weights, { threads: 1 })).score(batch);
  expect(episodes.flatMap(({ drawn }) => drawn.filter(({ token }) => token >= 30)).length).toBeGreaterThan(5);
  for (const [e, { drawn }] of episodes.entries()) {
    expect(drawn.map(({ token }) => token)).toEqual(same[e]?.drawn.map(({ token }) => token));
    for (const [i, { logProb }] of drawn.entries()) {
      expect(Math.abs(logProb - at(at(scores.logProbs, e), i))).toBeLessThan(1e-4);
      expect(Math.abs(logProb - at(at(same, e).drawn, i).logProb)).toBeLessThan(1e-4);
    }
  }

  const bySpelling = await gradientOf(spelled, weights, batch);
  const byToken = await gradientOf(config, plain, batch);
  const expected = new Float32Array(bySpelling.length);
  for (let token = 0; token < config.vocabulary; token++) {
    for (const row of rowsOf(token))
      for (let k = 0; k < config.width; k++) expected[row * config.width + k]! += at(byToken, token * config.width + k);
  }
  for (const [i, value] of bySpelling.entries()) expect(Math.abs(value - at(expected, i))).toBeLessThan(1e-5);
  expect(Math.hypot(...bySpelling.slice(30 * config.width))).toBeGreaterThan(1e-2);
});

it('spells words that are long enough, and nothing else', () => {
  const tokens = ['<pad>', 'crane', '##e', 'cao', 'five', '$12.50', 'running shoes', 'lemons'];
  expect(spellingsOf(tokens, 5)).toEqual(['', 'crane', '', '', '', '', '', 'lemons']);
  expect(spellingsOf(tokens, 3)).toEqual(['', 'crane', '', 'cao', 'five', '', '', 'lemons']);
  expect(spellingsOf(tokens, 12)).toBeUndefined();
  expect(spellingsOf(tokens, 0)).toBeUndefined();
});

it('makes Wordle’s policy smaller than its list of words', () => {
  const wordle = (aids: object) =>
    parseConfig({ world: { name: 'wordle', settings: { view: 'notes', spelled: false } }, policy: { aids }, seed: 1 });
  const { model, layout } = openRun(wordle({ letters: 5 }));
  expect('spellings' in model && model.spellings?.filter((word) => word !== '').length).toBeGreaterThanOrEqual(1365);
  expect(
    layout.view(
      layout.initialise(() => 1),
      'embedding',
    ).length / 128,
  ).toBeLessThan(700);
});
