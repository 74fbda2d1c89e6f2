// What memory a run with a language model, or one on a graphics card, will take, worked out before it starts: weights, what is trained,
// optimizer, keys and values, activations. Where that is more than the machine (or the card) has, the config is adapted (smaller
// micro-batches, then recomputation) or the run is refused: it must never swap. Nothing is opened for this but the model's description.

import { algorithmOf } from '../../algorithm/registry.ts';
import { ConfigError, type RunConfig } from '../../config/config.ts';
import { cardMemory, deviceOptions } from '../../engine/gpu/device.ts';
import { megabytes, peakBytes } from '../../engine/graph/memory.ts';
import { gradientGraph } from '../../engine/graph/training-graphs.ts';
import { bytes as size } from '../../base/format.ts';
import { type LoraShape, readAdapterShape } from '../../policy/model/adapter.ts';
import { type LanguageModelConfig, weightSpecs } from '../../policy/model/architecture.ts';
import { HEAD, kindOf, type MappedWeight, type MappedWeights } from '../../policy/model/files/mapped-weights.ts';
import { modelNetwork } from '../../policy/model/model-network.ts';
import { BLOCK, type Precision } from '../../policy/model/files/quantise.ts';
import { ModelRegistry } from '../../policy/model/files/registry.ts';
import { openSource } from '../../policy/model/files/source.ts';
import { type PolicyNetwork, networkOf, policyObjective } from '../../policy/transformer/network.ts';
import { parameterInputs } from '../../policy/sampling/sampling-graph.ts';
import { FEWEST_MASKS, MOST_ROWS, lanesFor, powerOfTwo } from './batch-shapes.ts';
import { trainedPart } from '../model-policy.ts';
import { openRun, readingKey } from '../run-setup.ts';

/** Bytes, each part at its largest. */
export interface MemoryParts {
  /** The model, mapped from its file: shared with every other process that uses it. */
  readonly weights: number;
  /** The adapter (or all weights) of the policy and of the reference. */
  readonly trained: number;
  /** Adam's two moments and the gradient. */
  readonly optimizer: number;
  /** Keys and values of the episodes being played. */
  readonly cache: number;
  /** What one call of the model works on: the largest micro-batch of training, and reading pages. */
  readonly activations: number;
  /** The process without any of it: runtime, world, tokenizer. */
  readonly process: number;
}

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
export function planMemory(config: RunConfig, network: PolicyNetwork): MemoryPlan {
  const rows = samplerCapacity(config);
  const training = ARENA * trainingBytes(config, network, lanesFor(config, network));
  const numbers = 4 * network.layout.count;
  const parts: MemoryParts = {
    weights: config.policy.model.train === 'all' ? 0 : (network.mappedBytes ?? 0),
    trained: 2 * numbers,
    optimizer: 4 * numbers,
    cache: CACHE_COPIES * rows * network.contextLength * network.streams.reduce((sum, { heads, size }) => sum + 4 * heads * size, 0),
    activations: training + ARENA * readingBytes(network, rows),
    process: PROCESS,
  };
  const needed = Object.values(parts).reduce((sum: number, bytes: number) => sum + bytes, 0);
  return { parts, needed, most: needed + OTHERS * training };
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
export function planCard(config: RunConfig, network: PolicyNetwork, limit = cardLimit(config)): MemoryPlan {
  const numbers = 4 * network.layout.count;
  const { half } = deviceOptions(config.device);
  const cut = half === 'float16' ? numbers / 2 : numbers;
  const rows = cardCapacity(config, network, limit);
  const training = BUFFERS * trainingBytes(config, network);
  const parts: MemoryParts = {
    weights: cut + (network.mappedBytes ?? 0),
    trained: 2 * numbers + cut,
    optimizer: 6 * numbers,
    cache: cacheBytes(network, rows) + 4 * MASKS * network.vocabulary,
    activations: training + BUFFERS * readingBytes(network, rows),
    process: 0,
  };
  const needed = Object.values(parts).reduce((sum: number, bytes: number) => sum + bytes, 0);
  return { parts, needed, most: needed + OTHERS * training, card: true };
}

/** The network of a config, from the model's description alone. */
export function plannedNetwork(config: RunConfig, shape: LanguageModelConfig): PolicyNetwork {
  const { precision } = config.policy.model;
  return modelNetwork({
    config: shape,
    weights: placelessWeights(shape, precision),
    hash: '',
    trained: trainedPart(config.policy),
    precision,
    contextLength: config.policy.contextLength,
    valueHead: algorithmOf(config.algorithm).needs.critic,
  });
}

/** Of the largest micro-batch, which lanes share: rows as long as the context, as many as its tokens allow. */
function trainingBytes(config: RunConfig, network: PolicyNetwork, lanes = 1): number {
  const { training, policy } = config;
  const { contextLength: time } = network;
  const rows = 2 ** Math.floor(Math.log2(Math.min(MOST_ROWS, Math.max(1, training.microBatch / lanes / time))));
  const said = TURNS * (policy.model.answerTokens + (policy.thoughts ? policy.thoughtTokens : 0));
  const batch = { rows, time, agentTokens: powerOfTwo(Math.min(time, said)), masks: FEWEST_MASKS, episodes: rows };
  const algorithm = algorithmOf(config.algorithm);
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

export interface FittedRun {
  /** The config, adapted where it had to be. */
  readonly config: RunConfig;
  /** Null for small policies, which the setting `memory` bounds. */
  readonly plan: MemoryPlan | null;
  /** What was changed, as `key=value`. */
  readonly changes: readonly string[];
  /** Bytes that are free; null for a card of which nobody says how much it has. */
  readonly free: number | null;
}

const shapes = new Map<string, LanguageModelConfig>();

/** The model's shape, by the hash of its files. */
function shapeOf(dataFolder: string, name: string): LanguageModelConfig {
  const { hash, source } = new ModelRegistry(dataFolder).find(name);
  const shape = shapes.get(hash) ?? openSource(source).config;
  shapes.set(hash, shape);
  return shape;
}

/** What a run takes as it is configured; null for small policies, which a setting bounds, and for graphics cards, whose memory is not this machine's. */
export function memoryOf(config: RunConfig, dataFolder: string): MemoryPlan | null {
  if (config.policy.kind !== 'model' || config.device !== 'cpu') return null;
  return planMemory(config, plannedNetwork(config, shapeOf(dataFolder, config.policy.model.name)));
}

/**
 * Throws a ConfigError where runs that are trained side by side would need more than is free. They are not adapted: a run of a study is
 * found again by its settings. The weights of a model are in memory once.
 */
export function checkTogether(configs: readonly RunConfig[], dataFolder: string, jobs: number, free = process.availableMemory()): void {
  const plans = configs.flatMap((config) => {
    const plan = memoryOf(config, dataFolder);
    return plan ? [{ model: config.policy.model.name, needed: plan.needed, weights: plan.parts.weights }] : [];
  });
  const together = plans.sort((a, b) => b.needed - a.needed).slice(0, jobs);
  const weights = new Map(together.map((one) => [`${one.model} ${one.weights}`, one.weights]));
  const needed =
    together.reduce((sum, one) => sum + one.needed - one.weights, 0) + [...weights.values()].reduce((sum, bytes) => sum + bytes, 0);
  if (needed <= USABLE * free) return;
  throw new ConfigError(
    `${together.length === 1 ? 'A run' : `${together.length} runs side by side`} would need ${megabytes(needed)} of memory; ${megabytes(free)} are free. ` +
      'Train fewer at once (--jobs), or set a smaller training.microBatch or policy.contextLength, or training.recompute=true, for all of them (--set)',
  );
}

const small = new Map<string, PolicyNetwork>();

/** The network of a small policy: its vocabulary is that of its world. */
function smallNetwork(config: RunConfig, dataFolder: string): PolicyNetwork {
  const key = `${readingKey(config)} ${JSON.stringify(config.policy)} ${config.algorithm.id}`;
  const network = small.get(key) ?? networkOf(openRun(config, { dataFolder }).model);
  small.set(key, network);
  return network;
}

/** A run that cannot start here: it needs more memory than there is, however it is adapted, or its adapter cannot be read. */
export class RefusedRun extends ConfigError {
  /** The setting to change, and the error without it. */
  readonly key: string;
  readonly explanation: string;

  constructor(key: string, explanation: string) {
    super(`${key}: ${explanation}`);
    this.key = key;
    this.explanation = explanation;
  }
}

/** The plan where so much is free: sessions of other shapes are kept only as long as there is room (session-pool.ts). */
const within = (plan: MemoryPlan, free: number): MemoryPlan => ({
  ...plan,
  most: Math.max(plan.needed, Math.min(plan.most, USABLE * free)),
});

/** The config as it fits into the free memory (of the card, where it runs on one), or a `RefusedRun`. */
export function fitMemory(config: RunConfig, dataFolder: string, given?: number): FittedRun {
  const onCard = config.device !== 'cpu';
  const isModel = config.policy.kind === 'model';
  const free = given ?? (onCard ? cardLimit(config) : process.availableMemory());
  if (!isModel && !onCard) return { config, plan: null, changes: [], free };
  if (isModel) checkAdapter(config);
  const network = isModel ? plannedNetwork(config, shapeOf(dataFolder, config.policy.model.name)) : smallNetwork(config, dataFolder);
  const planned = (adapted: RunConfig): MemoryPlan => (onCard ? planCard(adapted, network, free) : planMemory(adapted, network));
  if (free === null) return { config, plan: planned(config), changes: [], free };
  let smallest: MemoryPlan | undefined;
  for (const adapted of adaptations(config, network)) {
    const plan = planned(adapted);
    if (plan.needed <= USABLE * free) return { config: adapted, plan: within(plan, free), changes: changesOf(config, adapted), free };
    smallest = plan;
  }
  throw new RefusedRun(
    isModel ? 'policy.model.name' : 'device',
    `this run needs ${size(smallest?.needed ?? 0)} of ${onCard ? "the card's memory" : 'memory'} even with the smallest micro-batches and recomputation ` +
      `(${partsText(smallest)}); ${size(free)} are ${onCard ? 'there' : 'free'}. A smaller policy.contextLength or training.batch, ${isModel ? 'policy.model.precision=int4 or a smaller model' : 'a smaller policy or device=cpu'} need less`,
  );
}

/** An adapter that is missing, or is not the one that the config names, is refused before the run begins. */
function checkAdapter({ policy }: RunConfig): void {
  const { adapter } = policy.model;
  const trained = trainedPart(policy);
  if (adapter === '' || trained === 'all') return;
  const refuse = (why: string): RefusedRun => new RefusedRun('policy.model.adapter', why);
  let found: LoraShape;
  try {
    found = readAdapterShape(adapter);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
  const told = ({ rank, alpha, targets }: LoraShape): string => `rank ${rank}, alpha ${alpha}, ${targets.join(' ')}`;
  if (told(found) !== told(trained))
    throw refuse(`expected ${told(trained)}, found ${told(found)} in ${adapter}; set policy.model.rank, alpha and targets to those`);
}

/** From what was asked for to what needs least: smaller micro-batches cost little time, recomputation a third. */
function* adaptations(config: RunConfig, network: PolicyNetwork): Generator<RunConfig> {
  const { training } = config;
  const row = Math.max(64, network.contextLength);
  for (const recompute of training.recompute ? [true] : [false, true]) {
    for (let { microBatch } = training; ; microBatch = Math.floor(microBatch / 2)) {
      yield { ...config, training: { ...training, microBatch, recompute } };
      if (microBatch / 2 < row) break;
    }
  }
}

function changesOf({ training: before }: RunConfig, { training: after }: RunConfig): string[] {
  return [
    ...(after.microBatch === before.microBatch ? [] : [`training.microBatch=${after.microBatch}`]),
    ...(after.recompute === before.recompute ? [] : [`training.recompute=${after.recompute}`]),
  ];
}

const NAMES: Readonly<Record<keyof MemoryParts, string>> = {
  weights: 'weights',
  trained: 'trained parameters',
  optimizer: 'optimizer',
  cache: 'keys and values',
  activations: 'activations',
  process: 'process',
};

const partsText = (plan: MemoryPlan | undefined): string =>
  (Object.keys(NAMES) as (keyof MemoryParts)[])
    .filter((name) => !plan?.card || name !== 'process')
    .map((name) => `${NAMES[name]} ${size(plan?.parts[name] ?? 0)}`)
    .join(', ');

/** The plan in words, for the command line. */
export function planText({ plan, changes, free }: FittedRun): string {
  if (!plan) return '';
  const adapted = changes.length === 0 ? '' : `\nAdapted to the ${plan.card ? 'card' : 'free memory'}: ${changes.join(', ')}`;
  const there =
    free === null ? 'the system does not say how much it has (deviceMemory does)' : `${size(free)} ${plan.card ? 'there' : 'free'}`;
  return `Memory${plan.card ? ' of the card' : ''}: ${size(plan.needed)} needed, up to ${size(plan.most)} used, ${there} (${partsText(plan)})${adapted}`;
}
