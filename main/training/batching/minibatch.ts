// From episodes to optimizer steps: cuts the episodes of an update into micro-batches of similar length, feeds each with
// what the loss asks for, and lets the engine take one step over all of them. Exact whatever the cut: losses are divided
// by counts of the whole update. Similar lengths go together because padding is paid like real tokens.

import type { RunConfig } from '../../config/config.ts';
import { at, field } from '../../base/indexed.ts';
import type { Flat } from '../../engine/graph/parameters.ts';
import type { Graph } from '../../engine/graph/graph.ts';
import { peakBytes } from '../../engine/graph/memory.ts';
import { gradientGraph } from '../../engine/graph/training-graphs.ts';
import { OutOfMemoryError } from '../../engine/runtime/errors.ts';
import { float } from '../../engine/runtime/session.ts';
import type { Feeds } from '../../engine/runtime/session.ts';
import type { MicroBatch, LossAndMetrics, StepReport, Trainer } from '../../engine/runtime/training-step.ts';
import {
  type BatchShape,
  type FedBatch,
  PackedBatch,
  type PolicyOptions,
  type LossInput,
  type PolicyTensors,
} from '../../policy/transformer/batch.ts';
import { DeviceEpisodes, type HeldEpisode } from '../../policy/gpu/device-episodes.ts';
import { type PolicyModel, type PolicyNetwork, networkOf, policyObjective } from '../../policy/transformer/network.ts';
import { memoryLimit } from './session-pool.ts';
import {
  COARSE,
  FEW,
  FEWEST_MASKS,
  FINE,
  MOST_ROWS,
  type Rounding,
  cachedRows,
  lanesFor,
  microBatches,
  powerOfTwo,
  sessionShape,
  sharedMicroBatches,
} from './batch-shapes.ts';
import type { EncodedRow } from '../../policy/text/prompt.ts';
import { SharedBatch, isShared } from '../../policy/transformer/shared-batch.ts';

/** One episode to learn from: its rows and the numbers the loss asks for. */
export interface TrainingEpisode {
  readonly rows: readonly EncodedRow[];
  readonly episode: Readonly<Record<string, number>>;
  /** One number per agent token, rows joined. */
  readonly token: Readonly<Record<string, Float32Array>>;
}

export interface LossDefinition {
  /** Names the loss: the same name must mean the same graph. */
  readonly name: string;
  readonly options: PolicyOptions;
  readonly loss: (graph: Graph, policy: PolicyTensors, input: LossInput) => LossAndMetrics;
  /** Further feeds of one micro-batch (the reference's logits). */
  readonly extra?: (batch: FedBatch) => Promise<Feeds>;
}

/** Of an optimizer step. */
export interface LearningReport extends StepReport {
  /** Memory ran out, and the step was taken with micro-batches of this share of their configured size. */
  readonly shrunkTo?: number;
}

/** How many rows a micro-batch may have where memory is short. */
const ROW_LIMITS = [MOST_ROWS, 8, 4, 2, 1];
/** Below this share of the configured micro-batch a lack of memory has another cause. */
const SMALLEST_SHARE = 1 / 32;

/** Part of a run's memory that one micro-batch may take; the rest is for the process, the samplers and other sessions. */
const LARGEST_PART = 0.45;

interface MinibatchSettings {
  /** Most tokens, padding included, that go through the model at once. */
  readonly microBatch: number;
  /** Compute layers again in the backward pass instead of keeping their activations. */
  readonly recompute: boolean;
  /** Most rows of a length; missing: as many as there may be. */
  readonly rows?: (time: number) => number;
  /** Memory of the training process in MB: micro-batches that would take too much of it get fewer rows. */
  readonly memory: number;
}

export const minibatchSettings = (config: RunConfig, model: PolicyModel): MinibatchSettings => ({
  microBatch: config.training.microBatch / (config.device === 'cpu' ? (lanesFor(config, networkOf(model)) ?? 1) : 1),
  recompute: config.training.recompute,
  ...(config.device === 'cpu' && config.policy.kind === 'scratch' && { rows: cachedRows }),
  memory: memoryLimit(config),
});

export class MinibatchTrainer {
  readonly #trainer: Trainer;
  readonly #network: PolicyNetwork;
  readonly #settings: MinibatchSettings;
  readonly #rounding: Rounding;
  readonly #rows = new Map<string, number>();
  /** The episodes of an update, where the state is on a device. */
  readonly #held: DeviceEpisodes | undefined;
  /** What is left of the limits after memory ran out: 1, ½, ¼, … */
  #share = 1;

  constructor(trainer: Trainer, config: PolicyModel, settings: MinibatchSettings) {
    this.#trainer = trainer;
    this.#network = networkOf(config);
    this.#settings = settings;
    this.#held = trainer.parameters && new DeviceEpisodes(this.#network, trainer.parameters.session);
    this.#rounding = { few: FEW, fine: FINE, usual: COARSE }[this.#network.shapes ?? 'usual'];
  }

  /** One optimizer step over all samples. */
  async step(
    samples: readonly TrainingEpisode[],
    objective: LossDefinition,
    learningRate: number,
    signal?: AbortSignal,
  ): Promise<LearningReport> {
    const before = this.#share;
    for (;;) {
      try {
        const report = await this.#trainer.step(await this.#pack(samples, objective, signal), learningRate, signal);
        return this.#share === before ? report : { ...report, shrunkTo: this.#share };
      } catch (error) {
        // A step that ran out of memory has changed nothing, and smaller micro-batches add up to the same gradient.
        if (!(error instanceof OutOfMemoryError) || this.#share <= SMALLEST_SHARE) throw error;
        this.#share /= 2;
      }
    }
  }

  /** The gradient over all samples, without a step. */
  async gradient(samples: readonly TrainingEpisode[], objective: LossDefinition): Promise<Flat> {
    const { gradients } = await this.#trainer.gradients(await this.#pack(samples, objective));
    return gradients;
  }

  async #pack(samples: readonly TrainingEpisode[], objective: LossDefinition, signal?: AbortSignal): Promise<MicroBatch[]> {
    const agentTokens = samples.reduce((sum, sample) => sum + tokensOf(sample), 0);
    const batches: MicroBatch[] = [];
    await this.hold(samples);
    const { parameters } = this.#trainer;
    const base = parameters && (await this.#network.base?.feeds(parameters.session));
    for (const { part, shape } of this.cut(samples, objective)) {
      const packed = this.batch(part, shape);
      const feeds: Record<string, Feeds[string]> = { ...base, ...packed.feeds, ...PackedBatch.divisors(samples.length, agentTokens) };
      for (const name of Object.keys(at(part, 0).episode)) {
        const numbers = new Float32Array(shape.episodes);
        numbers.set(part.map(({ episode }) => field(episode, name)));
        feeds[`episode.${name}`] = float(numbers, [shape.episodes]);
      }
      if (packed instanceof PackedBatch) {
        for (const name of Object.keys(at(part, 0).token)) {
          feeds[`token.${name}`] = packed.perToken(part.map(({ token }) => field(token, name)));
        }
      }
      if (objective.extra) signal?.throwIfAborted();
      Object.assign(feeds, await objective.extra?.(packed));
      batches.push({
        key: `${objective.name} ${Object.values(packed.shape).join('×')}`,
        build: this.#build(objective, packed.shape),
        feeds,
      });
    }
    return batches;
  }

  /** Takes the episodes to the device that the next batches are made of, all at once; nothing where the state is in plain memory. */
  async hold(samples: readonly HeldEpisode[]): Promise<void> {
    await this.#held?.hold(samples);
  }

  /** A batch of episodes, which must be held. */
  batch(part: readonly Pick<TrainingEpisode, 'rows'>[], shape: BatchShape): FedBatch {
    const rows = part.map((episode) => episode.rows);
    if (isShared(shape)) return new SharedBatch(rows, this.#network, shape);
    return this.#held?.batch(rows, shape) ?? new PackedBatch(rows, this.#network, shape);
  }

  /** Gives the device's memory back. */
  async dispose(): Promise<void> {
    await this.#held?.dispose();
  }

  /** Episodes in micro-batches that fit the limits, of at most so many rows, with the shape of each. */
  cut<L extends Pick<TrainingEpisode, 'rows'>>(
    samples: readonly L[],
    objective: LossDefinition,
    most = MOST_ROWS,
  ): { part: L[]; shape: BatchShape }[] {
    const { contextLength } = this.#network;
    const agentTokens = powerOfTwo(
      Math.max(this.#rounding.agentTokens, ...samples.flatMap(({ rows }) => rows.map((row) => row.agent.length))),
    );
    const mostRows = (time: number): number =>
      Math.max(
        1,
        Math.floor(
          this.#share *
            Math.min(most, this.#settings.rows?.(time) ?? MOST_ROWS, this.#mostRows(Math.min(contextLength, time), agentTokens, objective)),
        ),
      );
    const budget = this.#share * this.#settings.microBatch;
    const shared = this.#network.shares && !this.#held && sharedMicroBatches(samples, contextLength, budget, mostRows, this.#rounding);
    if (shared) return shared;
    return microBatches(samples, budget, mostRows, this.#rounding).map((part) => ({
      part,
      shape: sessionShape(part, contextLength, mostRows, this.#rounding),
    }));
  }

  /** The most rows of a length whose training graph stays below its part of the memory. Depends on the config alone, so it repeats. */
  #mostRows(time: number, agentTokens: number, objective: LossDefinition): number {
    if (this.#settings.memory === Number.POSITIVE_INFINITY) return MOST_ROWS;
    const key = `${objective.name} ${time} ${agentTokens}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const { contextLength } = this.#network;
    // When the longest fits, all do: that spares the others' graphs.
    const short = time < contextLength && this.#mostRows(contextLength, agentTokens, objective) === MOST_ROWS;
    const most = short
      ? MOST_ROWS
      : (ROW_LIMITS.find((rows) => this.#fits({ rows, time, agentTokens, masks: FEWEST_MASKS, episodes: rows }, objective)) ?? 1);
    this.#rows.set(key, most);
    return most;
  }

  #fits(shape: BatchShape, objective: LossDefinition): boolean {
    const { graph } = gradientGraph({ key: objective.name, build: this.#build(objective, shape) }, this.#network.layout);
    return peakBytes(graph) <= LARGEST_PART * this.#settings.memory * 1e6;
  }

  #build(objective: LossDefinition, shape: BatchShape): MicroBatch['build'] {
    return policyObjective(this.#network, shape, { ...objective.options, recompute: this.#settings.recompute }, objective.loss);
  }
}

export const tokensOf = ({ rows }: Pick<TrainingEpisode, 'rows'>): number => rows.reduce((sum, row) => sum + row.agent.length, 0);
