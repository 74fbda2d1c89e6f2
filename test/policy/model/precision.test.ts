// Weights in half precision and in blocks of 8 and 4 bits: what the blocks stand for, the scorer on exactly those weights, the sampler close to
// it, and gradients of an adapter on top of them.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { weightSpecs } from '../../../main/policy/model/architecture.ts';
import { scoreTokens } from '../../../main/policy/model/continuation.ts';
import { kindOf, mapWeights } from '../../../main/policy/model/files/mapped-weights.ts';
import { modelNetwork } from '../../../main/policy/model/model-network.ts';
import { BLOCK, dequantise, quantise } from '../../../main/policy/model/files/quantise.ts';
import type { Precision } from '../../../main/policy/model/files/quantise.ts';
import { writeSafetensors } from '../../../main/policy/model/files/safetensors.ts';
import { openSource } from '../../../main/policy/model/files/source.ts';
import { readAll } from '../../../main/policy/model/files/tensor-source.ts';
import type { Drawn } from '../../../main/policy/sampling/draw.ts';
import { Sampler } from '../../../main/policy/sampling/sampler.ts';
import type { Feed, SampledEpisode } from '../../../main/policy/sampling/sampler.ts';
import { Random } from '../../../main/base/random.ts';
import { goldenFolder, goldenJson, temporaryFolder } from './samples.ts';

const MODEL = goldenFolder('tiny-llama'); // its head is a matrix of its own, so every kind of weight is in it
const { tokens } = z.object({ tokens: z.array(z.array(z.int())) }).parse(goldenJson('tiny-llama', 'golden.json'));

describe('blocks', () => {
  it.each([8, 4] as const)('of %i bits keep the extreme number of each block, and every other within half a level', (bits) => {
    const random = Random.from('blocks', bits);
    const numbers = Float32Array.from({ length: 8 * BLOCK }, () => random.normal());
    numbers.fill(0, 0, BLOCK);
    const back = dequantise(quantise(numbers, bits), bits);
    expect([...back.subarray(0, BLOCK)]).toEqual(Array.from({ length: BLOCK }, () => 0));
    for (let block = 1; block < 8; block++) {
      const own = [...numbers.subarray(block * BLOCK, (block + 1) * BLOCK)];
      const most = Math.max(...own.map(Math.abs));
      const level = most / (bits === 8 ? 128 : 8);
      for (const [i, number] of own.entries()) {
        const error = Math.abs(number - (back[block * BLOCK + i] ?? Number.NaN));
        // The other end of the range has one level less.
        expect(error).toBeLessThanOrEqual(level * (Math.abs(number) > most - level ? 1.01 : 0.51));
      }
    }
  });
});

/** The golden model with its weights replaced by what the precision makes of them, in float32: the same network by other means. */
function roundedModel(precision: Precision): string {
  const folder = temporaryFolder();
  cpSync(MODEL, folder, { recursive: true });
  const source = openSource(MODEL);
  const tensors = weightSpecs(source.config).map(({ name, shape }) => {
    const tensor = source.tensors.get(name);
    if (!tensor) throw new Error(`The golden model has no ${name}`);
    const made = roundedNumbers(readAll(tensor), kindOf(name, shape, precision));
    return { name, shape, numbers: () => [made] };
  });
  writeSafetensors(join(folder, 'model.safetensors'), tensors);
  return folder;
}

function roundedNumbers(numbers: Float32Array, kind: ReturnType<typeof kindOf>): Float32Array {
  if (kind === 'f32') return numbers;
  if (kind === 'f16') return Float32Array.from(Float16Array.from(numbers));
  const bits = kind === 'int8' ? 8 : 4;
  return dequantise(quantise(numbers, bits), bits);
}

function network(folder: string, precision: Precision) {
  const source = openSource(folder);
  const weights = mapWeights(source, 'a'.repeat(64), temporaryFolder(), { precision });
  return modelNetwork({ ...source, hash: 'a'.repeat(64), weights, precision, trained: 'none', contextLength: 64 });
}

/** Says eight tokens after a prompt, and keeps what the sampler said of them. */
class Answer implements SampledEpisode {
  readonly random = Random.from('precision');
  readonly mask = undefined;
  readonly drawn: Drawn[] = [];
  #unread: readonly number[];

  constructor(prompt: readonly number[]) {
    this.#unread = prompt;
  }

  get done(): boolean {
    return this.drawn.length === 8;
  }

  take(): Feed {
    const unread = this.#unread;
    this.#unread = [];
    return { tokens: unread, flags: unread.map(() => 0), newRow: this.drawn.length === 0 };
  }

  accept(drawn: Drawn): void {
    this.drawn.push(drawn);
    this.#unread = [drawn.token];
  }
}

const difference = (found: ArrayLike<number>, expected: ArrayLike<number>): number[] =>
  Array.from(expected, (number, i) => Math.abs(number - (found[i] ?? Number.NaN)));
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

const scores = async (model: ReturnType<typeof network>): Promise<number[]> =>
  (await scoreTokens(model, model.layout.zeros(), tokens)).flatMap((row) => [...row]);

it('fewer bits are further from the full weights: a sixteenth of the error with four more', async () => {
  const full = await scores(network(MODEL, 'f32'));
  const errors = [];
  for (const precision of ['f16', 'int8', 'int4'] as const) errors.push(mean(difference(await scores(network(MODEL, precision)), full)));
  const [half = 0, eight = 0, four = 0] = errors;
  expect([half > 0, half < eight / 8, eight < four / 8, four < 2]).toEqual([true, true, true, true]);
});

describe.each([
  { precision: 'f16', gap: 1e-4 },
  { precision: 'int8', gap: 0.1 },
  { precision: 'int4', gap: 0.1 },
] as const)('$precision', ({ precision, gap }) => {
  it('is scored with exactly the rounded weights', async () => {
    const [packed, rounded] = [await scores(network(MODEL, precision)), await scores(network(roundedModel(precision), 'f32'))];
    expect(Math.max(...difference(packed, rounded))).toBeLessThan(1e-5);
  });

  it('is sampled with log-probabilities near the scorer’s', async () => {
    const model = network(MODEL, precision);
    expect(model.approximateSampling).toBe(precision !== 'f16');
    const prompts = tokens.map((row) => row.slice(0, 6));
    const answers = prompts.map((prompt) => new Answer(prompt));
    const sampler = new Sampler(model, model.layout.zeros(), { capacity: 2 });
    await sampler.run(answers);
    await sampler.dispose();
    const texts = prompts.map((prompt, i) => [...prompt, ...(answers[i]?.drawn.map(({ token }) => token) ?? [])]);
    const scored = await scoreTokens(model, model.layout.zeros(), texts);
    for (const [i, { drawn }] of answers.entries()) {
      const last = scored[i]?.slice(-8) ?? [];
      expect(
        mean(
          difference(
            drawn.map(({ policyLogProb }) => policyLogProb),
            last,
          ),
        ),
      ).toBeLessThan(gap);
    }
  });
});

describe('threads and company', () => {
  /** Prompts of different lengths, so that some rows read while others write. */
  const said = async (model: ReturnType<typeof network>, threads: number, capacity: number): Promise<readonly (readonly Drawn[])[]> => {
    const answers = tokens.map((row, i) => new Answer(row.slice(0, 6 - (i % 3))));
    const sampler = new Sampler(model, model.layout.zeros(), { capacity, threads });
    await sampler.run(answers);
    await sampler.dispose();
    return answers.map(({ drawn }) => drawn);
  };
  const firsts = (all: readonly (readonly Drawn[])[]): number[] => all.map(([first]) => first?.policyLogProb ?? Number.NaN);

  it.each(['f32', 'int4'] as const)('do not change what %s says of a prompt, and one thread says the same as two', async (precision) => {
    const model = network(MODEL, precision);
    const expected = await said(model, 1, 1);
    expect(await said(model, 2, 1)).toEqual(expected);
    // Later tokens are compared in f32 alone: with few bits the last digit of a number may turn a rounded one, and the draws after it.
    const told = (all: readonly (readonly Drawn[])[]): number[][] =>
      all.map((row) => (precision === 'f32' ? row.map(({ token }) => token) : []));
    for (const capacity of [2, 4]) {
      const found = await said(model, 2, capacity);
      expect(told(found)).toEqual(told(expected));
      expect(Math.max(...difference(firsts(found), firsts(expected)))).toBeLessThan(1e-4);
    }
  });
});

it('all weights can be trained in f32 only', () => {
  const source = openSource(MODEL);
  const weights = mapWeights(source, 'b'.repeat(64), temporaryFolder(), { precision: 'int8' });
  const options = { ...source, hash: 'b', weights, precision: 'int8', contextLength: 64 } as const;
  expect(() => modelNetwork({ ...options, trained: 'all' })).toThrow(/needs policy.model.precision f32/);
});
