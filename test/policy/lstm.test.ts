// What runs with an LSTM policy can rely on: its layers compute the published recurrence, the sampler's numbers are the scorer's, and the
// gradient that trains every parameter is the slope of the loss.

import { expect, it } from 'vitest';
import { Graph } from '../../main/engine/graph/graph.ts';
import { mul, sub } from '../../main/engine/graph/operators.ts';
import type { Flat } from '../../main/engine/graph/parameters.ts';
import { Session, float, floats } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { at } from '../../main/base/indexed.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { lstmLayer, lstmParameters } from '../../main/policy/transformer/lstm.ts';
import { policyObjective } from '../../main/policy/transformer/network.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { type ModelConfig, modelLayout } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';
import { Babble, config, keptToTheEnd, weightsOf } from './babble.ts';

const keep = keptToTheEnd();

const lstm: ModelConfig = { ...config, architecture: 'lstm', width: 20 };
const plain: ModelConfig = { ...lstm, layers: 1, valueHead: false, aids: { matchFlag: false, pointer: false, tokenShift: 0 } };
const seeds = Array.from({ length: 12 }, (_, i) => i);

async function play(model: ModelConfig, weights: Flat, capacity: number): Promise<Babble[]> {
  const episodes = seeds.map((seed) => new Babble(seed));
  await keep(new Sampler(model, weights, { capacity, threads: 1 })).run(episodes);
  return episodes;
}

const packed = (episodes: readonly Babble[], model: ModelConfig): PackedBatch =>
  new PackedBatch(
    episodes.map(({ rows }) => rows),
    model,
  );

it('computes the recurrence of an LSTM, step by step', async () => {
  const [width, rows, time] = [3, 2, 4];
  const random = Random.from('lstm');
  const numbers = (count: number): number[] => Array.from({ length: count }, () => Math.fround(random.normal()));
  const [x, input, recurrent, bias] = [rows * time * width, 4 * width * width, 4 * width * width, 4 * width].map(numbers);
  if (!x || !input || !recurrent || !bias) throw new Error('no numbers');
  const graph = new Graph('lstm');
  const p = (name: string) =>
    graph.inputs.get(name) ?? graph.input(name, 'float32', at(lstmParameters(0, width), names.indexOf(name)).shape);
  const names = lstmParameters(0, width).map(({ name }) => name);
  graph.output('y', lstmLayer(graph, p, 0, graph.input('x', 'float32', [time * rows, width]), rows));
  const session = keep(await Session.create(graph, { threads: 1 }));
  const feeds = Object.fromEntries(
    [input, recurrent, bias].map((data, i) => [names[i] ?? '', float(Float32Array.from(data), at(lstmParameters(0, width), i).shape)]),
  );
  const { y } = await session.run({ ...feeds, x: float(Float32Array.from(x), [time * rows, width]) });
  if (!y) throw new Error('no output');

  const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
  for (let row = 0; row < rows; row++) {
    let h: number[] = Array(width).fill(0);
    let c: number[] = Array(width).fill(0);
    for (let t = 0; t < time; t++) {
      const place = (t * rows + row) * width;
      const gate = (unit: number): number => {
        let sum = at(bias, unit) + (unit >= width && unit < 2 * width ? 1 : 0);
        for (let k = 0; k < width; k++) sum += at(input, unit * width + k) * at(x, place + k) + at(recurrent, unit * width + k) * at(h, k);
        return sum;
      };
      const next = c.map((old, k) => sigmoid(gate(width + k)) * old + sigmoid(gate(k)) * Math.tanh(gate(3 * width + k)));
      h = next.map((state, k) => sigmoid(gate(2 * width + k)) * Math.tanh(state));
      c = next;
      for (const [k, value] of h.entries()) expect(Math.abs(value - at(floats(y), place + k))).toBeLessThan(1e-5);
    }
  }
});

it.each([
  ['with every aid', lstm],
  ['without aids', plain],
])('is sampled as it is scored, to 1e-4 %s, in whatever company', async (_, model) => {
  const weights = weightsOf(model, 3);
  const episodes = await play(model, weights, 5);
  const alone = await play(model, weights, 1);
  const scores = await keep(new Scorer(model, weights, { threads: 1 })).score(packed(episodes, model));
  let tokens = 0;
  for (const [e, { drawn }] of episodes.entries()) {
    expect(drawn.map(({ token }) => token)).toEqual(alone[e]?.drawn.map(({ token }) => token));
    for (const [i, { logProb, entropy }] of drawn.entries()) {
      expect(Math.abs(logProb - at(at(scores.logProbs, e), i))).toBeLessThan(1e-4);
      expect(Math.abs(entropy - at(at(scores.entropies, e), i))).toBeLessThan(1e-4);
      tokens++;
    }
  }
  expect(tokens).toBeGreaterThan(60);
  expect(episodes.some(({ rows }) => rows.length > 1)).toBe(true);
});

it('has the slope of the loss as its gradient for every parameter, and the same one with recomputation', async () => {
  const weights = weightsOf(lstm, 4);
  const batch = packed((await play(lstm, weights, 8)).slice(0, 5), lstm);
  const layout = modelLayout(lstm);
  const feeds = { ...batch.feeds, ...PackedBatch.divisors(1, batch.tokenCount) };
  const trainer = keep(new Trainer({ layout, state: freshState(layout, weights), session: { threads: 1 } }));
  const gradients = async (recompute: boolean) => {
    const build = policyObjective(lstm, batch.shape, { recompute }, (_graph, { logProbs, values, tokenMean }) => ({
      loss: sub(tokenMean(mul(values ?? logProbs, 0.3)), tokenMean(logProbs)),
    }));
    return trainer.gradients([{ key: `recompute ${recompute}`, build, feeds }]);
  };
  const { gradients: found } = await gradients(false);
  const { gradients: again } = await gradients(true);
  for (const { name } of layout.specs) {
    const view = layout.view(weights, name);
    const before = view.slice();
    const gradient = layout.view(found, name);
    const steepness = Math.hypot(...gradient);
    for (const [i, value] of gradient.entries())
      expect(Math.abs(value - layout.view(again, name)[i]!), name).toBeLessThan(1e-6 + 1e-4 * steepness);
    const loss = async (step: number): Promise<number> => {
      view.set(before.map((value, i) => value + (step * gradient[i]!) / steepness));
      const { report } = await gradients(false);
      view.set(before);
      return report.loss;
    };
    const step = 0.01;
    const slope = ((await loss(step)) - (await loss(-step))) / (2 * step);
    expect(steepness, name).toBeGreaterThan(1e-3);
    expect(Math.abs(slope - steepness), `${name}: ${slope} and ${steepness}`).toBeLessThan(2e-4 + 0.02 * steepness);
  }
});
