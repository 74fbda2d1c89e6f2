// From episodes to optimizer steps: cuts the episodes of an update into micro-batches of similar length, feeds each with
// what the loss asks for, and lets the engine take one step over all of them. Exact whatever the cut: losses are divided
// by counts of the whole update. Similar lengths go together because padding is paid like real tokens.

import type { Graph } from '../engine/graph.ts';
import type { Feeds } from '../engine/session.ts';
import type { MicroBatch, Objective, StepReport, Trainer } from '../engine/training-step.ts';
import type { LossInput, PolicyTensors } from '../algorithm/algorithm.ts';
import { type BatchShape, PackedBatch, type PolicyOptions, policyObjective } from '../policy/batch.ts';
import type { EncodedRow } from '../policy/prompt.ts';
import type { ModelConfig } from '../policy/transformer.ts';

/** One episode to learn from: its rows and the numbers the loss asks for. */
export interface Lesson {
  readonly rows: readonly EncodedRow[];
  readonly episode: Readonly<Record<string, number>>;
  /** One number per agent token, rows joined. */
  readonly token: Readonly<Record<string, Float32Array>>;
}

export interface Objectives {
  /** Names the loss: the same name must mean the same graph. */
  readonly name: string;
  readonly options: PolicyOptions;
  readonly loss: (graph: Graph, policy: PolicyTensors, input: LossInput) => Objective;
  /** Further feeds of one micro-batch (the reference's logits). */
  readonly extra?: (batch: PackedBatch, lessons: readonly Lesson[]) => Promise<Feeds>;
}

/** Fixed cost of one more micro-batch, in tokens: measured on the flagship's model (6 ms, where a token takes 0.07 ms). */
const MICRO_BATCH_COST = 80;
/** Rows of a micro-batch. */
const MOST_ROWS = 32;

export class Learner {
  readonly #trainer: Trainer;
  readonly #config: ModelConfig;
  readonly #budget: number;

  /** `budget` is the most tokens, padding included, that go through the model at once. */
  constructor(trainer: Trainer, config: ModelConfig, budget: number) {
    this.#trainer = trainer;
    this.#config = config;
    this.#budget = budget;
  }

  /** One optimizer step over all lessons. */
  async step(lessons: readonly Lesson[], objective: Objectives, learningRate: number): Promise<StepReport> {
    const agentTokens = lessons.reduce((sum, lesson) => sum + tokensOf(lesson), 0);
    const batches: MicroBatch[] = [];
    for (const part of microBatches(lessons, this.#budget)) {
      const packed = new PackedBatch(
        part.map(({ rows }) => rows),
        this.#config,
        sessionShape(part, this.#config.contextLength),
      );
      const first = part[0];
      const feeds: Record<string, Feeds[string]> = { ...packed.feeds, ...PackedBatch.divisors(lessons.length, agentTokens) };
      for (const name of Object.keys(first?.episode ?? {})) {
        feeds[`episode.${name}`] = packed.perEpisode(Float32Array.from(part, ({ episode }) => episode[name] ?? Number.NaN));
      }
      for (const name of Object.keys(first?.token ?? {})) {
        feeds[`token.${name}`] = packed.perToken(part.map(({ token }) => token[name] ?? new Float32Array()));
      }
      Object.assign(feeds, await objective.extra?.(packed, part));
      batches.push({
        key: `${objective.name} ${Object.values(packed.shape).join('×')}`,
        build: policyObjective(this.#config, packed.shape, objective.options, objective.loss),
        feeds,
      });
    }
    return this.#trainer.step(batches, learningRate);
  }
}

export const tokensOf = ({ rows }: Pick<Lesson, 'rows'>): number => rows.reduce((sum, row) => sum + row.agent.length, 0);

/** The longest row of an episode, up to the last hidden state that matters. */
function lengthOf({ rows }: Pick<Lesson, 'rows'>): number {
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
export function sessionShape(lessons: readonly Pick<Lesson, 'rows'>[], contextLength: number): BatchShape {
  const rows = lessons.flatMap((lesson) => lesson.rows);
  const masks = new Set(rows.flatMap((row) => row.agent.map(({ mask }) => mask)));
  const size = rowBucket(rows.length);
  return {
    rows: size,
    time: Math.min(contextLength, timeBucket(Math.max(1, ...lessons.map(lengthOf)))),
    agentTokens: powerOfTwo(Math.max(8, ...rows.map((row) => row.agent.length))),
    masks: powerOfTwo(Math.max(32, masks.size + 1)),
    episodes: size, // an episode has at least one row
  };
}

/** Cuts episodes, sorted by length, where the padding saved is worth another micro-batch; never past the budget. */
export function microBatches<L extends Pick<Lesson, 'rows'>>(lessons: readonly L[], budget: number): L[][] {
  const sorted = lessons
    .map((lesson, index) => ({ lesson, index, time: timeBucket(lengthOf(lesson)), rows: lesson.rows.length }))
    .sort((a, b) => a.time - b.time || a.index - b.index);
  const count = sorted.length;
  // best[i]: the least cost of the first i episodes; cut[i]: where the last of their micro-batches begins.
  const best = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  const cut = new Int32Array(count + 1);
  best[0] = 0;
  for (let end = 1; end <= count; end++) {
    const time = sorted[end - 1]?.time ?? 1;
    let rows = 0;
    for (let start = end - 1; start >= 0; start--) {
      rows += sorted[start]?.rows ?? 0;
      const size = rowBucket(rows) * time;
      if ((size > budget || rows > MOST_ROWS) && start < end - 1) break;
      const cost = (best[start] ?? 0) + size + MICRO_BATCH_COST;
      if (cost < (best[end] ?? 0)) {
        best[end] = cost;
        cut[end] = start;
      }
    }
  }
  const parts: L[][] = [];
  for (let end = count; end > 0; end = cut[end] ?? 0) parts.unshift(sorted.slice(cut[end] ?? 0, end).map(({ lesson }) => lesson));
  return parts;
}
