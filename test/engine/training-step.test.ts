// What a user of the training step can rely on: micro-batches add up, padding is free, a bad step changes nothing, layers may be
// recomputed, nothing leaks. Equality with PyTorch is in golden.test.ts.

import { afterEach, expect, test } from 'vitest';
import { add, div, mul, neg, reduceSum, square, sub, matmul, log } from '../../main/engine/graph/operators.ts';
import { ADAMW, learningRateAt } from '../../main/engine/runtime/optimizer.ts';
import { ParameterLayout } from '../../main/engine/graph/parameters.ts';
import { float } from '../../main/engine/runtime/session.ts';
import { NotFiniteError } from '../../main/engine/runtime/errors.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import type { MicroBatch, TrainingState } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import type { BatchShape, PolicyOptions } from '../../main/policy/transformer/batch.ts';
import type { EncodedRow } from '../../main/policy/text/prompt.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { MemoryPool, SessionCache } from '../../main/engine/runtime/session-cache.ts';
import { Random } from '../../main/base/random.ts';

const CONFIG: ModelConfig = {
  vocabulary: 20,
  width: 16,
  layers: 2,
  heads: 2,
  feedForward: 24,
  gate: 'swiglu',
  contextLength: 24,
  valueHead: false,
  aids: { matchFlag: true, pointer: true, tokenShift: 3 },
};
const LAYOUT = modelLayout(CONFIG);
const MASKS = [{ allowed: Int32Array.of(1, 3, 5, 7, 9, 11) }, { allowed: Int32Array.from({ length: 20 }, (_, i) => i) }] as const;

const trainers: Trainer[] = [];
afterEach(async () => {
  for (const trainer of trainers.splice(0)) await trainer.dispose();
});

function trainerOf(layout: ParameterLayout, state: TrainingState): Trainer {
  const trainer = new Trainer({ layout, state, session: { threads: 1 } });
  trainers.push(trainer);
  return trainer;
}

function startState(): TrainingState {
  const random = Random.from('training step test');
  return freshState(
    LAYOUT,
    LAYOUT.initialise(() => random.normal()),
  );
}

/** Episodes of one or two rows with a few agent tokens each. */
function episodes(count: number): EncodedRow[][] {
  const random = Random.from('episodes');
  const row = (): EncodedRow => {
    const length = 6 + random.below(8);
    const tokens = Array.from({ length }, () => 1 + random.below(19));
    const agent = Array.from({ length: 1 + random.below(4) }, () => {
      const mask = random.pick(MASKS);
      return { position: random.below(length - 1), target: random.pick([...mask.allowed]), mask };
    });
    return { tokens, flags: tokens.map(() => random.below(2)), agent };
  };
  return Array.from({ length: count }, (_, i) => (i % 3 === 0 ? [row(), row()] : [row()]));
}

/** −log π per episode, weighted, averaged over the update, plus an entropy bonus. */
function micro(
  batch: readonly EncodedRow[][],
  weights: readonly number[],
  total: { episodes: number; tokens: number },
  shape?: BatchShape,
  options: PolicyOptions = {},
): MicroBatch {
  const packed = new PackedBatch(batch, CONFIG, shape);
  const build = policyObjective(CONFIG, packed.shape, options, (_graph, policy, input) => ({
    loss: sub(
      policy.episodeMean(mul(neg(policy.perEpisode(policy.logProbs)), input('weight', 'episode'))),
      mul(policy.tokenMean(policy.entropies), 0.01),
    ),
    metrics: { entropy: policy.tokenMean(policy.entropies) },
  }));
  const key = JSON.stringify([packed.shape, options]);
  return {
    key,
    build,
    feeds: {
      ...packed.feeds,
      ...PackedBatch.divisors(total.episodes, total.tokens),
      'episode.weight': packed.perEpisode(Float32Array.from(weights)),
    },
  };
}

const tokensOf = (batch: readonly EncodedRow[][]): number => batch.flat().reduce((sum, row) => sum + row.agent.length, 0);

/** Largest difference relative to the largest number. */
function difference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const scale = Math.max(...Array.from(b, Math.abs), 1e-12);
  return Math.max(...Array.from(b, (x, i) => Math.abs(x - (a[i] ?? Number.NaN)))) / scale;
}

test('two micro-batches give the gradients, the step and the metrics of one big batch', async () => {
  const all = episodes(7);
  const weights = [1, -0.5, 2, 0.3, 1, 1, -1];
  const total = { episodes: 7, tokens: tokensOf(all) };
  const [together, apart] = [startState(), startState()];
  const big = micro(all, weights, total);
  const small = [micro(all.slice(0, 3), weights.slice(0, 3), total), micro(all.slice(3), weights.slice(3), total)];
  const one = trainerOf(LAYOUT, together);
  const two = trainerOf(LAYOUT, apart);

  const a = await one.gradients([big]);
  const b = await two.gradients(small);
  expect(difference(b.gradients.decay, a.gradients.decay)).toBeLessThan(1e-5);
  expect(difference(b.gradients.plain, a.gradients.plain)).toBeLessThan(1e-5);
  for (let step = 0; step < 3; step++) {
    const first = await one.step([big], 1e-3);
    const second = await two.step(small, 1e-3);
    expect(second.loss).toBeCloseTo(first.loss, 5);
    expect(second.gradientNorm).toBeCloseTo(first.gradientNorm, 5);
    expect(second.metrics.entropy).toBeCloseTo(first.metrics.entropy ?? 0, 5);
  }
  expect(difference((await two.download()).values.decay, (await one.download()).values.decay)).toBeLessThan(1e-5);
});

test('padding of rows, time, agent tokens, masks and episodes changes neither loss nor gradients', async () => {
  const all = episodes(4);
  const total = { episodes: 4, tokens: tokensOf(all) };
  const exact = micro(all, [1, 2, -1, 0.5], total);
  const padded = micro(all, [1, 2, -1, 0.5], total, { rows: 12, time: 24, agentTokens: 9, masks: 8, episodes: 6 });
  const trainer = trainerOf(LAYOUT, startState());
  const a = await trainer.gradients([exact]);
  const b = await trainer.gradients([padded]);
  expect(b.report.loss).toBeCloseTo(a.report.loss, 5);
  expect(difference(b.gradients.decay, a.gradients.decay)).toBeLessThan(1e-5);
});

test('recomputing layers gives the same gradients', async () => {
  const all = episodes(4);
  const total = { episodes: 4, tokens: tokensOf(all) };
  const trainer = trainerOf(LAYOUT, startState());
  const kept = await trainer.gradients([micro(all, [1, 2, -1, 0.5], total)]);
  const recomputed = await trainer.gradients([micro(all, [1, 2, -1, 0.5], total, undefined, { recompute: true })]);
  expect(recomputed.report.loss).toBe(kept.report.loss);
  expect(difference(recomputed.gradients.decay, kept.gradients.decay)).toBeLessThan(1e-6);
});

/** loss = Σ (w·x − y)² − log(scale): NaN for a negative scale, infinite gradients for a huge x. */
const TOY = new ParameterLayout([
  { name: 'w', shape: [1, 3], decay: true, deviation: 1 },
  { name: 'b', shape: [1], decay: false },
]);
const toy = (x: number, scale = 1): MicroBatch => ({
  key: 'toy',
  build: (graph, p) => {
    const input = graph.input('x', 'float32', [2, 3]);
    const logs = log(graph.input('scale', 'float32', []));
    return { loss: sub(reduceSum(square(sub(add(matmul(input, p('w'), { transposeB: true }), p('b')), 1))), logs) };
  },
  feeds: { x: float(new Float32Array(6).fill(x), [2, 3]), scale: float(Float32Array.of(scale), []) },
});

function toyState(): TrainingState {
  return freshState(TOY, { decay: Float32Array.of(0.1, -0.2, 0.3), plain: Float32Array.of(0.5) });
}

test.each([
  ['a loss that is not a number', toy(1, -1)],
  ['an infinite gradient', toy(1e25)],
])('%s leaves weights and optimizer state untouched, and says so', async (_name, bad) => {
  for (const batches of [[bad], [toy(1), bad]]) {
    const state = toyState();
    const trainer = trainerOf(TOY, state);
    await trainer.step([toy(1)], 0.01);
    const before = structuredClone(await trainer.download());
    const failure = await trainer.step(batches, 0.01).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotFiniteError);
    expect(String(failure)).toContain('Step 2 skipped');
    expect(await trainer.download()).toEqual(before);
    await trainer.step([toy(1)], 0.01);
    expect(state.step).toBe(2);
  }
});

test('gradients are clipped to the global norm: twice the loss takes the same step', async () => {
  const steps: number[][] = [];
  for (const factor of [1, 2]) {
    const trainer = trainerOf(TOY, toyState());
    const { build, feeds } = toy(3);
    const scaled: MicroBatch = { key: `times ${factor}`, build: (graph, p) => ({ loss: mul(build(graph, p).loss, factor) }), feeds };
    const report = await trainer.step([scaled], 0.01);
    expect(report.gradientNorm).toBeGreaterThan(1);
    steps.push([...(await trainer.download()).first.decay]);
  }
  expect(difference(steps[1] ?? [], steps[0] ?? [])).toBeLessThan(1e-5);
});

test('weight decay pulls matrices, not gains', async () => {
  const state = toyState();
  const trainer = new Trainer({ layout: TOY, state, optimizer: { ...ADAMW, weightDecay: 0.5 }, session: { threads: 1 } });
  trainers.push(trainer);
  const still: MicroBatch = {
    key: 'still',
    build: (graph, p) => ({ loss: mul(reduceSum(add(p('w'), div(p('b'), 1))), graph.scalar(0)) }),
    feeds: {},
  };
  await trainer.step([still], 0.1);
  await trainer.download();
  expect(difference(state.values.decay, [0.095, -0.19, 0.285])).toBeLessThan(1e-6);
  expect([...state.values.plain]).toEqual([0.5]);
});

test('the learning rate warms up, stays and decays', () => {
  const schedule = { learningRate: 1, warmup: 10, flat: 0.5, decay: 'linear', final: 0.1 } as const;
  const at = (step: number): number => learningRateAt(schedule, step, 110);
  expect([at(0), at(9), at(10), at(60), at(109)].map((rate) => Number(rate.toFixed(6)))).toEqual([0.1, 1, 1, 1, 0.1]);
  expect(at(85)).toBeCloseTo(1 - (0.9 * 25) / 49, 6);
  expect(learningRateAt({ ...schedule, decay: 'cosine', flat: 0 }, 60, 111)).toBeCloseTo(0.55, 6);
  expect(learningRateAt({ ...schedule, decay: 'none' }, 109, 110)).toBe(1);
});

test('300 steps in three shapes do not grow memory', async () => {
  const trainer = trainerOf(LAYOUT, startState());
  const all = episodes(6);
  const batches = [2, 4, 6].map((count) =>
    micro(all.slice(0, count), [1, 1, 1, 1, 1, 1].slice(0, count), { episodes: count, tokens: tokensOf(all.slice(0, count)) }),
  );
  const steps = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await trainer.step([batches[i % 3] ?? batches[0]!], 1e-3);
  };
  await steps(100);
  const before = process.memoryUsage().rss;
  await steps(200);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(30);
});

/** A session that only notes when it is made and disposed of. */
const planned = (key: string, bytes: number, log: string[]) => ({
  bytes,
  create: async () => {
    log.push(`make ${key}`);
    return { dispose: async () => void log.push(`dispose ${key}`) };
  },
});

test('caches that share a pool of memory stay below its limit together: as few sessions as possible of any of them go', async () => {
  const log: string[] = [];
  const pool = new MemoryPool(100);
  const [one, two] = [new SessionCache(9, pool), new SessionCache(9, pool)];
  await one.get('a', () => planned('a', 40, log));
  await two.get('b', () => planned('b', 40, log));
  await one.get('a', () => planned('a', 40, log));
  await two.get('c', () => planned('c', 60, log)); // a and b are equally large: the one not used for longer goes
  expect(log).toEqual(['make a', 'make b', 'dispose b', 'make c']);
  expect(pool.bytes).toBe(100);
  await one.get('d', () => planned('d', 50, log)); // a was not used for longest, but would not be enough
  expect(log.slice(4)).toEqual(['dispose c', 'make d']);
  await one.get('e', () => planned('e', 150, log)); // larger than the limit: alone
  expect(log.slice(6)).toEqual(['dispose d', 'dispose a', 'make e']);
  await one.dispose();
  expect([pool.bytes, one.size, two.size]).toEqual([0, 0, 0]);
});

test('a pool that looks at the memory of the process gives up sessions until there is room, but keeps a least', async () => {
  const log: string[] = [];
  let others = 0;
  const sizes: Record<string, number> = { a: 70, b: 10, c: 10, d: 10 };
  const held = new Set<string>();
  const used = () => others + [...held].reduce((sum, key) => sum + (sizes[key] ?? 0), 0);
  const cache = new SessionCache(9, new MemoryPool(100, { used, least: 20 }));
  const get = (key: string) =>
    cache.get(key, () => ({
      bytes: 10, // planned; `a` turns out to hold more
      create: async () => {
        held.add(key);
        return { dispose: async () => void (held.delete(key), log.push(key)) };
      },
    }));
  await get('a');
  await get('b');
  await get('c');
  expect(log).toEqual([]);
  await get('d'); // 70 + 10 + 10 + 10 = 100
  expect(log).toEqual([]);
  others = 60;
  await get('e');
  expect(log).toEqual(['a']);
  others = 500;
  await get('f'); // whatever is given up, there is no room; two of 10 are the least
  expect([log, cache.size]).toEqual([['a', 'b', 'c', 'd'], 2]);
});

test('at most the given number of sessions is kept; the least recently used one is disposed of', async () => {
  const cache = new SessionCache<{ dispose(): Promise<void> }>(2);
  const log: string[] = [];
  const get = (key: string) => cache.get(key, () => planned(key, 1, log));
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
  expect(log).toEqual(['make a', 'make b', 'dispose b', 'make c', 'dispose c', 'make b']);
  expect(cache.size).toBe(2);
  await cache.dispose();
  expect(cache.size).toBe(0);
});
