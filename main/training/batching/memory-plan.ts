// What memory a run with a language model, or one on a graphics card, will take, worked out before it starts: weights, what is trained,
// optimizer, keys and values, activations. Nothing is opened for this but the model's description. What follows from it for the config
// is in fit-memory.ts.

import type { MemoryPart } from '../../base/vocabulary.ts';
import { type Algorithms, algorithmOf } from '../../algorithm/registry.ts';
import type { RunConfig } from '../../config/config.ts';
import { cardMemory, deviceOptions } from '../../engine/gpu/device.ts';
import { peakBytes } from '../../engine/graph/memory.ts';
import { gradientGraph } from '../../engine/graph/training-graphs.ts';
import { type LanguageModelConfig, weightSpecs } from '../../policy/model/architecture.ts';
import { HEAD, kindOf, type MappedWeight, type MappedWeights } from '../../policy/model/files/mapped-weights.ts';
import { modelNetwork } from '../../policy/model/model-network.ts';
import { BLOCK, type Precision } from '../../policy/model/files/quantise.ts';
import { type PolicyNetwork, policyObjective } from '../../policy/transformer/network.ts';
import { parameterInputs } from '../../policy/sampling/sampling-graph.ts';
import { FEWEST_MASKS, MOST_ROWS, lanesFor, powerOfTwo } from './batch-shapes.ts';
import { trainedPart } from '../model-policy.ts';

/** Bytes, each part at its largest (base/vocabulary.ts says what they are). */
export type MemoryParts = Readonly<Record<MemoryPart, number>>;

export interface MemoryPlan {
  readonly parts: MemoryParts;
  /** The sum of the parts: without that much the run cannot work. */
  readonly needed: number;
  /** Up to which it may grow, to keep the sessions of other batch shapes. */
  readonly most: number;
  /** Of the graphics card instead of the machine. */
  readonly card?: true;
}

// With these factors the peak of real runs is 0.82 to 0.90 of what is planned (`npm run bench -- memory`, docs/LANGUAGE_MODELS.md).

/** Electron's Node with the runtime and a world. */
const PROCESS = 300e6;
/** See engine/program-cache.ts: the runtime's arena grows in powers of two. */
const ARENA = 1.4;
/** Keys and values: the arrays, and what the runtime copies of them. */
const CACHE_COPIES = 2;
/** Sessions of other shapes that are worth keeping beside the largest. */
const OTHERS = 2;
/** Turns of an episode that share a row, at most, when the agent's tokens are counted. */
const TURNS = 4;
/** Tokens that a sampler reads at once. */
const READ = 64;
/** Of the memory that is free, what a run may plan with. */
export const USABLE = 0.9;

/** Episodes that are played at once. */
export const samplerCapacity = ({ training }: RunConfig): number => Math.min(256, Math.max(32, training.batch));

/** The plan for a config whose policy is this network. */
export function planMemory(catalog: Algorithms, config: RunConfig, network: PolicyNetwork): MemoryPlan {
  const rows = samplerCapacity(config);
  const training = ARENA * trainingBytes(catalog, config, network, lanesFor(config, network));
  const numbers = 4 * network.layout.count;
  const parts: MemoryParts = {
    weights: config.policy.model.train === 'all' ? 0 : (network.mappedBytes ?? 0),
    trained: 2 * numbers,
    optimizer: 4 * numbers,
    cache: CACHE_COPIES * cacheBytes(network, rows),
    activations: training + ARENA * readingBytes(network, rows),
    process: PROCESS,
  };
  return planOf(parts, training);
}

/** Of a card's memory, what keys and values may take. */
const CACHE_SHARE = 0.3;
const FEWEST_EPISODES = 8;
/** What the runtime keeps of freed buffers beside those in use. */
const BUFFERS = 1.2;
/** Masks that are expected in the table. */
const MASKS = 512;

const cacheBytes = (network: PolicyNetwork, rows: number): number =>
  rows * network.contextLength * network.streams.reduce((sum, { heads, size }) => sum + 4 * heads * size, 0);

/** The card's memory that a run may take; null where nobody says. */
export const cardLimit = ({ device, deviceMemory }: RunConfig): number | null =>
  deviceMemory > 0 ? deviceMemory * 1e6 : cardMemory(device);

/** Episodes that are played at once on a card: fewer where their keys and values would take too much of it. */
export function cardCapacity(config: RunConfig, network: PolicyNetwork, limit = cardLimit(config)): number {
  let rows = samplerCapacity(config);
  while (limit !== null && rows > FEWEST_EPISODES && cacheBytes(network, rows) > CACHE_SHARE * limit) rows = Math.ceil(rows / 2);
  return rows;
}

/**
 * The plan of a card's memory. Every part of the training state has two buffers, which take turns; the matrices are there once more as
 * sampler and scorer read them, of the policy and of the reference, in half precision at half the size.
 */
export function planCard(catalog: Algorithms, config: RunConfig, network: PolicyNetwork, limit = cardLimit(config)): MemoryPlan {
  const numbers = 4 * network.layout.count;
  const { half } = deviceOptions(config.device);
  const cut = half === 'float16' ? numbers / 2 : numbers;
  const rows = cardCapacity(config, network, limit);
  const training = BUFFERS * trainingBytes(catalog, config, network);
  const parts: MemoryParts = {
    weights: cut + (network.mappedBytes ?? 0),
    trained: 2 * numbers + cut,
    optimizer: 6 * numbers,
    cache: cacheBytes(network, rows) + 4 * MASKS * network.vocabulary,
    activations: training + BUFFERS * readingBytes(network, rows),
    process: 0,
  };
  return { ...planOf(parts, training), card: true };
}

function planOf(parts: MemoryParts, training: number): MemoryPlan {
  const needed = Object.values(parts).reduce((sum: number, bytes: number) => sum + bytes, 0);
  return { parts, needed, most: needed + OTHERS * training };
}

/** The network of a config, from the model's description alone. */
export function plannedNetwork(catalog: Algorithms, config: RunConfig, shape: LanguageModelConfig): PolicyNetwork {
  const { precision } = config.policy.model;
  return modelNetwork({
    config: shape,
    weights: placelessWeights(shape, precision),
    hash: '',
    trained: trainedPart(config.policy),
    precision,
    contextLength: config.policy.contextLength,
    valueHead: algorithmOf(catalog, config.algorithm).needs.critic,
  });
}

/** Of the largest micro-batch, which lanes share: rows as long as the context, as many as its tokens allow. */
function trainingBytes(catalog: Algorithms, config: RunConfig, network: PolicyNetwork, lanes = 1): number {
  const { training, policy } = config;
  const { contextLength: time } = network;
  const rows = 2 ** Math.floor(Math.log2(Math.min(MOST_ROWS, Math.max(1, training.microBatch / lanes / time))));
  const said = TURNS * (policy.model.answerTokens + (policy.thoughts ? policy.thoughtTokens : 0));
  const batch = { rows, time, agentTokens: powerOfTwo(Math.min(time, said)), masks: FEWEST_MASKS, episodes: rows };
  const algorithm = algorithmOf(catalog, config.algorithm);
  const build = policyObjective(network, batch, { recompute: training.recompute }, (graph, tensors, input) =>
    algorithm.loss(graph, tensors, input),
  );
  return lanes * peakBytes(gradientGraph({ key: 'plan', build }, network.layout).graph);
}

function readingBytes(network: PolicyNetwork, rows: number): number {
  const graph = network.samplingGraph(READ, (target) => parameterInputs(target, network.layout));
  return peakBytes(graph, { rows, time: network.contextLength, total: network.contextLength + READ }, false);
}

/** Bytes of a number. */
const BYTES = { f32: 4, f16: 2, int8: 1, int4: 0.5 };

/** Where the weights lie does not matter for what is computed with them. Quantised models have the head beside the embedding. */
function placelessWeights(shape: LanguageModelConfig, precision: Precision): MappedWeights {
  const quantised = precision === 'int8' || precision === 'int4';
  const head = shape.tied && quantised ? [{ name: HEAD, shape: [shape.vocabulary, shape.width] }] : [];
  const place = (bytes: number) => ({ file: '', offset: 0, bytes });
  const mapped = (name: string, size: readonly number[]): MappedWeight => {
    const kind = kindOf(name, size, precision);
    const count = size.reduce((product, extent) => product * extent, 1);
    const numbers = place(BYTES[kind] * count);
    if (kind === 'f32' || kind === 'f16') return { kind, place: numbers };
    // A scale and a zero point for every block.
    return { kind, place: numbers, scales: place(BYTES.f32 * (count / BLOCK)), zeros: place(BYTES[kind] * (count / BLOCK)) };
  };
  return new Map([...weightSpecs(shape), ...head].map(({ name, shape: size }) => [name, mapped(name, size)]));
}
