// A year of lifelike runs for the store's benchmark: shop episodes of five steps whose pages come from a catalog (so
// they repeat as real ones do) and whose tokens are mostly forced by the grammar, as in a real rollout.

import { Random } from '../../main/base/random.ts';
import type { StepTokens, Trajectory } from '../../main/rollout/trajectory.ts';

export const METRICS = Array.from({ length: 40 }, (_, i) => `metric.${i}`);
const CATEGORIES = ['shoes', 'electronics', 'apparel', 'fitness', 'accessories', 'home', 'kitchen', 'books'];
const WORDS =
  'red blue light heavy steel cotton trail running office travel water proof wireless slim soft large small classic modern daily'.split(
    ' ',
  );

function tokensOf(random: Random, count: number): StepTokens {
  const ids = new Int32Array(count);
  const logProbs = new Float32Array(count);
  const referenceLogProbs = new Float32Array(count);
  const entropies = new Float32Array(count);
  const topIds = new Int32Array(count * 4).fill(-1);
  const topProbs = new Float32Array(count * 4);
  for (let i = 0; i < count; i++) {
    ids[i] = random.below(2048);
    const forced = random.next() < 0.5;
    topIds[i * 4] = ids[i] ?? 0;
    topProbs[i * 4] = 1;
    if (forced) continue;
    const p = 1 - random.next() ** 3;
    logProbs[i] = Math.log(p);
    referenceLogProbs[i] = Math.log(p) + 0.1 * random.normal();
    entropies[i] = -p * Math.log(p) + random.next() * 0.1;
    let rest = 1;
    for (let k = 0; k < 4; k++) {
      topIds[i * 4 + k] = random.below(2048);
      topProbs[i * 4 + k] = k === 0 ? p : rest * random.next();
      rest -= topProbs[i * 4 + k] ?? 0;
    }
  }
  return { ids, logProbs, referenceLogProbs, entropies, values: new Float32Array(), advantages: new Float32Array(), topIds, topProbs };
}

function page(kind: string, key: number): string {
  const random = Random.from('bench-page', kind, key);
  const lines = Array.from({ length: kind === 'product' ? 4 : 8 }, () => {
    const words = Array.from({ length: 5 }, () => random.pick(WORDS)).join(' ');
    return `[p${random.below(497)}] ${words} $${random.below(200)}.${10 + random.below(90)} rated ${(3 + random.next() * 2).toFixed(1)}`;
  });
  return `${kind} ${key}\n${lines.join('\n')}`;
}

export function benchTrajectory(random: Random, update: number): Trajectory {
  const task = random.below(600);
  const success = random.next() < Math.min(0.9, 0.2 + update / 2000);
  const query = `${random.pick(WORDS)} ${random.pick(WORDS)}`;
  const product = random.below(497);
  const moves = [
    ['search', `search[${query}]`, page('task', task)],
    ['open', `click[p${product}]`, page('results', random.below(800))],
    ['option', `click[${random.pick(WORDS)}]`, page('product', product)],
    ['back', 'click[back]', page('product', product)],
    ['buy', 'buy', page('product', random.below(497))],
  ] as const;
  return {
    task: `shop-${task}`,
    split: 'train',
    category: CATEGORIES[task % 8] ?? '',
    tier: ['plain', 'paraphrased', 'constrained'][task % 3] ?? '',
    seed: random.below(2 ** 31),
    purpose: random.next() < 0.9 ? 'train' : 'evaluation',
    update,
    steps: moves.map(([kind, action, observation], i) => ({
      observation,
      thought: '',
      action,
      reward: i === 4 && success ? 1 : 0,
      reason: i === 4 ? (success ? 'bought the product that was asked for' : 'bought another product') : 'no rule applied',
      valid: true,
      facts: { kind, results: random.below(8), helpful: random.next() < 0.5 },
      tokens: tokensOf(random, 4 + random.below(6)),
    })),
    finalObservation: success ? 'Thank you for your purchase.' : 'This was not what was asked for.',
    return: success ? 1 : 0,
    success,
    vstar: random.next(),
    advantage: random.normal() * 0.5,
    failure: success ? null : random.pick(['search-loop', 'wrong-purchase', 'timeout']),
  };
}

/** The values of one update. Most are float32, as they come from the engine. */
export function benchMetrics(random: Random, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name, i) => [name, i % 4 === 0 ? random.next() : Math.fround(random.next())]));
}
