// From episodes to optimizer steps: cuts the episodes of an update into micro-batches of similar length, feeds each with
// what the loss asks for, and lets the engine take one step over all of them. Exact whatever the cut: losses are divided
// by counts of the whole update. Similar lengths go together because padding is paid like real tokens.

import { at, field } from '../indexed.ts';
import type { Graph } from '../engine/graph.ts';
import type { Feeds } from '../engine/session.ts';
import type { MicroBatch, LossAndMetrics, StepReport, Trainer } from '../engine/training-step.ts';
import { type BatchShape, PackedBatch, type PolicyOptions, type LossInput, type PolicyTensors } from '../policy/batch.ts';
import { type PolicyModel, type PolicyNetwork, networkOf, policyObjective } from '../policy/network.ts';
import type { EncodedRow } from '../policy/prompt.ts';

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
  readonly extra?: (batch: PackedBatch, samples: readonly TrainingEpisode[]) => Promise<Feeds>;
}

/** Fixed cost of one more micro-batch, in tokens: measured on the flagship's model (6 ms, where a token takes 0.07 ms). */
const MICRO_BATCH_COST = 80;
/** Rows of a micro-batch. */
const MOST_ROWS = 32;

interface MinibatchSettings {
  /** Most tokens, padding included, that go through the model at once. */
  readonly microBatch: number;
  /** Compute layers again in the backward pass instead of keeping their activations. */
  readonly recompute: boolean;
}

export class MinibatchTrainer {
  readonly #trainer: Trainer;
  readonly #network: PolicyNetwork;
  readonly #settings: MinibatchSettings;

  constructor(trainer: Trainer, config: PolicyModel, settings: MinibatchSettings) {
    this.#trainer = trainer;
    this.#network = networkOf(config);
    this.#settings = settings;
  }

  /** One optimizer step over all samples. */
  async step(samples: readonly TrainingEpisode[], objective: LossDefinition, learningRate: number): Promise<StepReport> {
    const agentTokens = samples.reduce((sum, sample) => sum + tokensOf(sample), 0);
    const options = { ...objective.options, recompute: this.#settings.recompute };
    const batches: MicroBatch[] = [];
    for (const part of microBatches(samples, this.#settings.microBatch)) {
      const packed = new PackedBatch(
        part.map(({ rows }) => rows),
        this.#network,
        sessionShape(part, this.#network.contextLength),
      );
      const first = at(part, 0);
      const feeds: Record<string, Feeds[string]> = { ...packed.feeds, ...PackedBatch.divisors(samples.length, agentTokens) };
      for (const name of Object.keys(first.episode)) {
        feeds[`episode.${name}`] = packed.perEpisode(Float32Array.from(part, ({ episode }) => field(episode, name)));
      }
      for (const name of Object.keys(first.token)) {
        feeds[`token.${name}`] = packed.perToken(part.map(({ token }) => field(token, name)));
      }
      Object.assign(feeds, await objective.extra?.(packed, part));
      batches.push({
        key: `${objective.name} ${Object.values(packed.shape).join('×')}`,
        build: policyObjective(this.#network, packed.shape, options, objective.loss),
        feeds,
      });
    }
    return this.#trainer.step(batches, learningRate);
  }
}

export const tokensOf = ({ rows }: Pick<TrainingEpisode, 'rows'>): number => rows.reduce((sum, row) => sum + row.agent.length, 0);

/** The longest row of an episode, up to the last hidden state that matters. */
function lengthOf({ rows }: Pick<TrainingEpisode, 'rows'>): number {
  return Math.max(1, ...rows.map((row) => (row.agent.at(-1)?.position ?? 0) + 1));
}

const powerOfTwo = (size: number): number => 2 ** Math.ceil(Math.log2(size));
const up = (size: number, step: number): number => Math.max(step, Math.ceil(size / step) * step);
const timeBucket = (length: number): number => up(length, length <= 128 ? 8 : 64);
/**
 * 8 or 32 rows; more only where a single episode has more rows. A new shape costs a session, which takes as long as thousands of tokens,
 * while one more call costs little: so few sizes, used several times. Small calls also stay in the processor's cache.
 */
const rowBucket = (rows: number): number => (rows <= 8 ? 8 : powerOfTwo(Math.max(MOST_ROWS, rows)));

/** Coarser than the engine's own buckets: few shapes, because each is a session that takes a while to make. No row is longer than the context. */
export function sessionShape(samples: readonly Pick<TrainingEpisode, 'rows'>[], contextLength: number): BatchShape {
  const rows = samples.flatMap((sample) => sample.rows);
  const masks = new Set(rows.flatMap((row) => row.agent.map(({ mask }) => mask)));
  const size = rowBucket(rows.length);
  return {
    rows: size,
    time: Math.min(contextLength, timeBucket(Math.max(1, ...samples.map(lengthOf)))),
    agentTokens: powerOfTwo(Math.max(8, ...rows.map((row) => row.agent.length))),
    masks: powerOfTwo(Math.max(32, masks.size + 1)),
    episodes: size, // an episode has at least one row
  };
}

/** Cuts episodes, sorted by length, where the padding saved is worth another micro-batch; never past the budget. */
export function microBatches<L extends Pick<TrainingEpisode, 'rows'>>(samples: readonly L[], budget: number): L[][] {
  const sorted = samples
    .map((sample, index) => ({ sample, index, time: timeBucket(lengthOf(sample)), rows: sample.rows.length }))
    .sort((a, b) => a.time - b.time || a.index - b.index);
  const count = sorted.length;
  // best[i]: the least cost of the first i episodes; cut[i]: where the last of their micro-batches begins.
  const best = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  const cut = new Int32Array(count + 1);
  best[0] = 0;
  for (let end = 1; end <= count; end++) {
    const time = at(sorted, end - 1).time;
    let rows = 0;
    for (let start = end - 1; start >= 0; start--) {
      rows += at(sorted, start).rows;
      const size = rowBucket(rows) * time;
      if ((size > budget || rows > MOST_ROWS) && start < end - 1) break;
      const cost = at(best, start) + size + MICRO_BATCH_COST;
      if (cost < at(best, end)) {
        best[end] = cost;
        cut[end] = start;
      }
    }
  }
  const parts: L[][] = [];
  for (let end = count; end > 0; end = at(cut, end)) parts.unshift(sorted.slice(at(cut, end), end).map(({ sample }) => sample));
  return parts;
}
