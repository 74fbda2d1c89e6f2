// Writing token by token gives the scorer's log-probabilities, whether matrices of the same rows lie side by side in their file and are multiplied as one or not,
// with and without an adapter, also one that only some of them have.

import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Flat } from '../../../main/engine/graph/parameters.ts';
import type { Drawn } from '../../../main/policy/sampling/draw.ts';
import { TARGETS } from '../../../main/policy/model/adapter.ts';
import { scoreTokens } from '../../../main/policy/model/continuation.ts';
import { joinedWeight, neighbours } from '../../../main/policy/model/joined.ts';
import { mapWeights } from '../../../main/policy/model/files/mapped-weights.ts';
import type { MappedWeights } from '../../../main/policy/model/files/mapped-weights.ts';
import { modelNetwork } from '../../../main/policy/model/model-network.ts';
import type { ModelNetworkOptions } from '../../../main/policy/model/model-network.ts';
import type { Precision } from '../../../main/policy/model/files/quantise.ts';
import { openSource } from '../../../main/policy/model/files/source.ts';
import type { PolicyNetwork } from '../../../main/policy/transformer/network.ts';
import { Sampler } from '../../../main/policy/sampling/sampler.ts';
import type { Feed, SampledEpisode } from '../../../main/policy/sampling/sampler.ts';
import { Random } from '../../../main/base/random.ts';
import { GOLDEN, goldenFolder, temporaryFolder } from './samples.ts';

const HASH = 'c'.repeat(64);
const LENGTH = 8;

/** Says eight tokens after one. */
class Saying implements SampledEpisode {
  readonly random: Random;
  readonly mask = undefined;
  readonly drawn: Drawn[] = [];
  readonly first: number;

  constructor(first: number) {
    this.first = first;
    this.random = Random.from('writing', first);
  }

  get done(): boolean {
    return this.drawn.length === LENGTH;
  }

  take(): Feed {
    return { tokens: [this.drawn.at(-1)?.token ?? this.first], flags: [0], newRow: this.drawn.length === 0 };
  }

  accept(drawn: Drawn): void {
    this.drawn.push(drawn);
  }
}

const numbers = (all: readonly Saying[]): number[] => all.flatMap(({ drawn }) => drawn.map(({ policyLogProb }) => policyLogProb));

async function write(network: PolicyNetwork, weights: Flat): Promise<Saying[]> {
  const sayings = [3, 7, 11].map((first) => new Saying(first));
  const sampler = new Sampler(network, weights, { capacity: 3, threads: 1 });
  await sampler.run(sayings);
  await sampler.dispose();
  return sayings;
}

async function scored(network: PolicyNetwork, weights: Flat, sayings: readonly Saying[]): Promise<number[]> {
  const texts = sayings.map(({ first, drawn }) => [first, ...drawn.map(({ token }) => token)]);
  return (await scoreTokens(network, weights, texts)).flatMap((row) => [...row].slice(-LENGTH));
}

const largest = (found: readonly number[], expected: readonly number[]): number =>
  Math.max(...expected.map((number, i) => Math.abs(number - (found[i] ?? Number.NaN))));

/** The same weights in two files by turns, so that no two lie side by side. */
function scattered(weights: MappedWeights): MappedWeights {
  const folder = temporaryFolder();
  const copies = new Map<string, string>();
  return new Map(
    [...weights].map(([name, weight], i) => {
      const { file } = weight.place;
      const copy = copies.get(file) ?? join(folder, `${copies.size}`);
      if (!copies.has(file)) copyFileSync(file, copy);
      copies.set(file, copy);
      return [name, i % 2 === 0 ? weight : { ...weight, place: { ...weight.place, file: copy } }];
    }),
  );
}

function open(name: string, precision: Precision, trained: ModelNetworkOptions['trained']) {
  const source = openSource(goldenFolder(name));
  const weights = mapWeights(source, HASH, temporaryFolder(), { precision });
  const made = (mapped: MappedWeights): PolicyNetwork =>
    modelNetwork({ config: source.config, weights: mapped, hash: HASH, precision, trained, contextLength: 64 });
  return { weights, network: made(weights), apart: made(scattered(weights)) };
}

/** An adapter that has learned something. */
function learned({ layout }: PolicyNetwork): Flat {
  const random = Random.from('learned');
  const weights = layout.zeros();
  for (const { name } of layout.specs) {
    const own = layout.view(weights, name);
    for (let i = 0; i < own.length; i++) own[i] = 0.1 * random.normal();
  }
  return weights;
}

describe.each(GOLDEN)('%s', (name) => {
  it.each([
    { trained: 'none' },
    { trained: { rank: 4, alpha: 8, targets: [...TARGETS] } },
    { trained: { rank: 2, alpha: 6, targets: ['q_proj', 'v_proj', 'up_proj'] as const } },
  ] as const)('says in f32 what the scorer says of it, with $trained', async ({ trained }) => {
    const { network, apart } = open(name, 'f32', trained);
    const weights = learned(network);
    const sayings = await write(network, weights);
    expect(largest(numbers(sayings), await scored(network, weights, sayings))).toBeLessThan(1e-4);
    const others = await write(apart, weights);
    expect(others.map(({ drawn }) => drawn.map(({ token }) => token))).toEqual(sayings.map(({ drawn }) => drawn.map(({ token }) => token)));
    expect(largest(numbers(others), numbers(sayings))).toBeLessThan(1e-5);
  });

  it.each(['int8', 'int4', 'f16'] as const)('says in %s the same whether matrices are multiplied as one or apart', async (precision) => {
    const { network, apart } = open(name, precision, 'none');
    const weights = network.layout.zeros();
    expect(largest(numbers(await write(network, weights)), numbers(await write(apart, weights)))).toBeLessThan(1e-5);
  });

  it('is trained whole and says what the scorer says of it', async () => {
    const { network } = open(name, 'f32', 'all');
    const weights = learned(network);
    const sayings = await write(network, weights);
    expect(largest(numbers(sayings), await scored(network, weights, sayings))).toBeLessThan(1e-3);
  });
});

describe('files of few bits', () => {
  const layer = (part: string): string => `model.layers.1.${part}`;
  const three = ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'].map((part) => layer(`${part}.weight`));
  const two = ['mlp.gate_proj', 'mlp.up_proj'].map((part) => layer(`${part}.weight`));

  it('have queries, keys and values side by side, their biases, and gate and up', () => {
    const { weights } = open('tiny-qwen2', 'int4', 'none');
    const biases = three.map((name) => name.replace('weight', 'bias'));
    expect([three, two, biases].map((names) => neighbours(weights, names))).toEqual([[three], [two], [biases]]);
    const sum = (names: readonly string[]): number => names.reduce((all, name) => all + (weights.get(name)?.place.bytes ?? 0), 0);
    expect(joinedWeight(weights, three).place.bytes).toBe(sum(three));
  });

  it('that were made earlier are left alone, and one is made anew', () => {
    const [source, folder] = [openSource(goldenFolder('tiny-llama')), temporaryFolder()];
    const old = join(folder, `${HASH.slice(0, 16)}-int4.json`);
    writeFileSync(old, '{}');
    expect(mapWeights(source, HASH, folder, { precision: 'int4' }).size).toBeGreaterThan(10);
    expect([readFileSync(old, 'utf8'), existsSync(old.replace('int4', 'int4-joined'))]).toEqual(['{}', true]);
  });
});

it('an adapter that was trained further counts from the next game on', async () => {
  const { network } = open('tiny-llama', 'f32', { rank: 4, alpha: 8, targets: [...TARGETS] });
  const weights = learned(network);
  const sampler = new Sampler(network, weights, { capacity: 3, threads: 1 });
  const say = async (): Promise<Saying[]> => {
    const sayings = [3, 7, 11].map((first) => new Saying(first));
    await sampler.run(sayings);
    return sayings;
  };
  await say();
  for (const { name } of network.layout.specs) network.layout.view(weights, name).fill(0.02);
  const sayings = await say();
  await sampler.dispose();
  expect(largest(numbers(sayings), await scored(network, weights, sayings))).toBeLessThan(1e-4);
});
