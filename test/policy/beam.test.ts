// What beam search can be relied on for: with enough width it finds the most probable answer that exhaustive search finds, with width 1 it is
// greedy decoding, pruning only drops what is far behind, and real worlds with thoughts are played by it to their end.

import { expect, it } from 'vitest';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { keepBest } from '../../main/policy/sampling/beam.ts';
import type { Drawn } from '../../main/policy/sampling/draw.ts';
import type { AnswerPath } from '../../main/policy/text/episode-text.ts';
import { type TokenMask, tokenMask } from '../../main/policy/text/grammar-mask.ts';
import type { EncodedRow } from '../../main/policy/text/prompt.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import type { Feed, SampledEpisode } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { Random } from '../../main/base/random.ts';
import { rollout } from '../../main/rollout/rollout.ts';
import { config, keptToTheEnd, weightsOf } from './babble.ts';
import { openRun, parseConfig } from '../catalog.ts';

const keep = keptToTheEnd();

const END = 1;
const FIRST = tokenMask([4, 5, 6, 7]);
const MORE = tokenMask([END, 8, 9, 10]);
const LAST = tokenMask([END]);
const maskAt = (length: number): TokenMask => (length === 0 ? FIRST : length < 3 ? MORE : LAST);
const pathFrom = (length: number): AnswerPath => ({
  mask: maskAt(length),
  next: (token) => (token === END ? undefined : pathFrom(length + 1)),
});

/** A tiny world: two turns, each answered by one of 52 answers of two to four tokens. */
class Riddle implements SampledEpisode {
  readonly random: Random;
  readonly answers: Drawn[][] = [[]];
  readonly row: EncodedRow = { tokens: [], flags: [], agent: [] };
  #read = 0;

  constructor(seed: number) {
    this.random = Random.from('riddle', seed);
    this.#show(12);
  }

  get done(): boolean {
    return this.answers.length > 2;
  }

  get mask(): TokenMask {
    return maskAt(this.answers.at(-1)?.length ?? 0);
  }

  get path(): AnswerPath {
    return pathFrom(0);
  }

  take(): Feed {
    const from = this.#read;
    this.#read = this.row.tokens.length;
    return { tokens: this.row.tokens.slice(from), flags: this.row.flags.slice(from), newRow: from === 0 };
  }

  accept(drawn: Drawn): void {
    this.row.agent.push({ position: this.row.tokens.length - 1, target: drawn.token, mask: this.mask });
    this.row.tokens.push(drawn.token);
    this.row.flags.push(0);
    this.answers.at(-1)?.push(drawn);
    if (drawn.token !== END) return;
    this.answers.push([]);
    if (!this.done) this.#show(3 + this.random.below(4));
  }

  #show(count: number): void {
    for (let i = 0; i < count; i++) {
      this.row.tokens.push(11 + this.random.below(20));
      this.row.flags.push(this.random.below(2));
    }
  }
}

/** All answers: three tokens of which the last two may be missing. */
const EVERY: readonly number[][] = [4, 5, 6, 7].flatMap((first) => [
  [first, END],
  ...[8, 9, 10].flatMap((second) => [[first, second, END], ...[8, 9, 10].map((third) => [first, second, third, END])]),
]);

const weights = weightsOf(config, 11);
const seeds = Array.from({ length: 10 }, (_, i) => i);
const sampler = keep(new Sampler(config, weights, { capacity: 128, threads: 1 }));

async function search(width: number, prune = 0): Promise<Riddle[]> {
  const riddles = seeds.map((seed) => new Riddle(seed));
  await sampler.run(riddles, {}, { beam: { width, prune } });
  return riddles;
}

const said = ({ answers }: Riddle): number[][] => answers.slice(0, 2).map((answer) => answer.map(({ token }) => token));

it('finds the most probable of all answers where it is wide enough, which greedy decoding does not always', async () => {
  const scorer = keep(new Scorer(config, weights, { threads: 1 }));
  const found = await search(EVERY.length);
  const greedy = seeds.map((seed) => new Riddle(seed));
  await sampler.run(greedy, { greedy: true });
  let better = 0;
  for (const [r, riddle] of found.entries()) {
    let start = 12;
    for (const [turn, answer] of said(riddle).entries()) {
      const rows = EVERY.map((tokens): EncodedRow[] => [
        {
          tokens: [...riddle.row.tokens.slice(0, start), ...tokens],
          flags: [...riddle.row.flags.slice(0, start), ...tokens.map(() => 0)],
          agent: tokens.map((target, i) => ({ position: start + i - 1, target, mask: maskAt(i) })),
        },
      ]);
      const { logProbs } = await scorer.score(new PackedBatch(rows, config));
      const sums = logProbs.map((each) => each.reduce((sum, value) => sum + value, 0));
      const most = Math.max(...sums);
      expect(answer).toEqual(EVERY[sums.indexOf(most)]);
      const own = riddle.answers[turn]?.reduce((sum, { logProb }) => sum + logProb, 0) ?? Number.NaN;
      expect(Math.abs(own - most)).toBeLessThan(1e-4);
      if (turn === 0 && JSON.stringify(said(greedy[r] ?? riddle)[0]) !== JSON.stringify(answer)) better++;
      start = nextStart(riddle, start, answer.length);
    }
  }
  expect(better).toBeGreaterThan(0);
});

/** Where the second answer begins: after the first and what was shown then. */
function nextStart({ row }: Riddle, start: number, length: number): number {
  const next = row.agent.find(({ position }) => position >= start + length);
  return next ? next.position + 1 : start;
}

it('is greedy decoding with a width of 1, or where everything but the best is pruned', async () => {
  const greedy = seeds.map((seed) => new Riddle(seed));
  await sampler.run(greedy, { greedy: true });
  expect((await search(1)).map(said)).toEqual(greedy.map(said));
  expect((await search(20, 1e-9)).map(said)).toEqual(greedy.map(said));
});

it('keeps the most probable hypotheses, and of those the ones within the margin', () => {
  const of = (logProb: number) => ({ said: [], logProb, path: undefined });
  const all = [-3, -1, -2.5, -7].map(of);
  expect(keepBest(all, { width: 3, prune: 0 }).map(({ logProb }) => logProb)).toEqual([-1, -2.5, -3]);
  expect(keepBest(all, { width: 3, prune: 1.6 }).map(({ logProb }) => logProb)).toEqual([-1, -2.5]);
});

it('plays a world with thoughts to the end; of width 1 as greedy decoding does', async () => {
  const { environment, codec, model, layout } = openRun(
    parseConfig({
      world: { name: 'shop', settings: { products: 10, maxSteps: 3 } },
      policy: { width: 16, layers: 1, heads: 2, feedForward: 16, thoughts: true, thoughtTokens: 4, contextLength: 160 },
    }),
  );
  const random = Random.from('beam world');
  const flat = layout.initialise(() => 2 * random.normal());
  const player = { environment, codec, sampler: keep(new Sampler(model, flat, { capacity: 12, threads: 1 })) };
  const requests = environment
    .tasks('train')
    .slice(0, 3)
    .map((task) => ({ task, seed: 1, purpose: 'evaluation' as const, update: 0, relabel: false, level: undefined }));
  const actions = async (draw: object, beam?: { width: number; prune: number }) =>
    (await rollout(player, requests, draw, { beam })).map(({ trajectory }) =>
      trajectory.steps.map(({ thought, action }) => [thought, action]),
    );
  expect(await actions({}, { width: 1, prune: 0 })).toEqual(await actions({ greedy: true }));
  const wide = await actions({}, { width: 4, prune: 2 });
  expect(wide.every((steps) => steps.length > 0 && steps.length <= 3)).toBe(true);
});
