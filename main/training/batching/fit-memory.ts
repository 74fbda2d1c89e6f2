// From a memory plan to a config that fits: where a run would take more than the machine (or the card) has, it is adapted (smaller
// micro-batches, then recomputation) or refused: it must never swap.

import { bytes as size } from '../../base/format.ts';
import type { Catalog } from '../../config/catalog.ts';
import { ConfigError, type RunConfig } from '../../config/config.ts';
import { megabytes } from '../../engine/graph/memory.ts';
import { type LoraShape, readAdapterShape } from '../../policy/model/adapter.ts';
import type { LanguageModelConfig } from '../../policy/model/architecture.ts';
import { ModelRegistry } from '../../policy/model/files/registry.ts';
import { openSource } from '../../policy/model/files/source.ts';
import { type PolicyNetwork, networkOf } from '../../policy/transformer/network.ts';
import { trainedPart } from '../model-policy.ts';
import { openRun, readingKey } from '../run-setup.ts';
import { type MemoryPlan, USABLE, cardLimit, planCard, planMemory, plannedNetwork } from './memory-plan.ts';
import { partsText } from './memory-text.ts';

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

/** The form asks for the same few at every change; more are forgotten. */
const REMEMBERED = 4;

function remembered<T>(made: Map<string, T>, key: string, make: () => T): T {
  const value = made.get(key) ?? make();
  made.delete(key);
  made.set(key, value);
  for (const oldest of [...made.keys()].slice(0, -REMEMBERED)) made.delete(oldest);
  return value;
}

const shapes = new Map<string, LanguageModelConfig>();

/** The model's shape, by the hash of its files. */
function shapeOf(dataFolder: string, name: string): LanguageModelConfig {
  const { hash, source } = new ModelRegistry(dataFolder).find(name);
  return remembered(shapes, hash, () => openSource(source).config);
}

/** What a run takes as it is configured; null for small policies, which a setting bounds, and for graphics cards, whose memory is not this machine's. */
export function memoryOf(catalog: Catalog, config: RunConfig, dataFolder: string): MemoryPlan | null {
  if (config.policy.kind !== 'model' || config.device !== 'cpu') return null;
  return planMemory(catalog, config, plannedNetwork(catalog, config, shapeOf(dataFolder, config.policy.model.name)));
}

/**
 * Throws a ConfigError where runs that are trained side by side would need more than is free. They are not adapted: a run of a study is
 * found again by its settings. The weights of a model are in memory once.
 */
export function checkTogether(
  catalog: Catalog,
  configs: readonly RunConfig[],
  dataFolder: string,
  jobs: number,
  free = process.availableMemory(),
): void {
  const plans = configs.flatMap((config) => {
    const plan = memoryOf(catalog, config, dataFolder);
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
function smallNetwork(catalog: Catalog, config: RunConfig, dataFolder: string): PolicyNetwork {
  const key = `${readingKey(config)} ${JSON.stringify(config.policy)} ${config.algorithm.id}`;
  return remembered(small, key, () => networkOf(openRun(catalog, config, { dataFolder }).model));
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
export function fitMemory(catalog: Catalog, config: RunConfig, dataFolder: string, given?: number): FittedRun {
  const onCard = config.device !== 'cpu';
  const isModel = config.policy.kind === 'model';
  const free = given ?? (onCard ? cardLimit(config) : process.availableMemory());
  if (!isModel && !onCard) return { config, plan: null, changes: [], free };
  if (isModel) checkAdapter(config);
  const network = isModel
    ? plannedNetwork(catalog, config, shapeOf(dataFolder, config.policy.model.name))
    : smallNetwork(catalog, config, dataFolder);
  const planned = (adapted: RunConfig): MemoryPlan =>
    onCard ? planCard(catalog, adapted, network, free) : planMemory(catalog, adapted, network);
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
      `(${smallest ? partsText(smallest) : ''}); ${size(free)} are ${onCard ? 'there' : 'free'}. A smaller policy.contextLength or training.batch, ${isModel ? 'policy.model.precision=int4 or a smaller model' : 'a smaller policy or device=cpu'} need less`,
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
  const describe = ({ rank, alpha, targets }: LoraShape): string => `rank ${rank}, alpha ${alpha}, ${targets.join(' ')}`;
  if (describe(found) !== describe(trained))
    throw refuse(
      `expected ${describe(trained)}, found ${describe(found)} in ${adapter}; set policy.model.rank, alpha and targets to those`,
    );
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
