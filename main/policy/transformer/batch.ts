// One micro-batch of episodes, as numbers (feeds) and as symbols (what a loss is made of). Sizes are rounded up to a few
// buckets, because every shape is a separate session; what the rounding adds has weight 0 and costs nothing in the loss.
// Only the agent's tokens go through the vocabulary, and a row ends at the last hidden state that predicts one.

import { at } from '../../base/indexed.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import { logProbability } from '../../engine/graph/fused.ts';
import * as op from '../../engine/graph/operators.ts';
import type { Parameters } from '../../engine/graph/parameters.ts';
import { float, integer, scalarValue, value } from '../../engine/runtime/session.ts';
import type { Feeds, Value } from '../../engine/runtime/session.ts';
import { residentInputs } from '../gpu/device-batch.ts';
import { EVERYTHING } from '../text/grammar-mask.ts';
import type { TokenMask } from '../text/grammar-mask.ts';
import type { EncodedRow } from '../text/prompt.ts';
import { hiddenStates, logitsAt, stateValue } from './transformer.ts';
import type { ModelConfig } from './transformer.ts';

export interface BatchShape {
  readonly rows: number;
  readonly time: number;
  readonly agentTokens: number;
  /** Rows of the mask table; 0 = nothing is masked. */
  readonly masks: number;
  readonly episodes: number;
  /** Its episodes lie on the device (device-episodes.ts). */
  readonly resident?: true;
  /** Its sequences stand in so many trees of length `time` (shared-batch.ts). */
  readonly trees?: number;
  /** Of trees: tokens of the agent that differ in what comes before them, in themselves or in what was allowed. */
  readonly distinct?: number;
}

/** A batch to be fed to a graph of its shape. */
export interface FedBatch {
  readonly shape: BatchShape;
  readonly feeds: Feeds;
  /** The real tokens' numbers out of a result [R, A], episode by episode. */
  unpack(result: Float32Array): Float32Array[];
}

/** The policy on one micro-batch, symbolically. R rows, A agent tokens a row, E episodes. */
export interface PolicyTensors {
  /** log π of the agent's tokens under the grammar's mask, at temperature 1. [R, A] */
  readonly logProbs: Tensor;
  /** Entropy of the masked distribution at each agent token. [R, A] */
  readonly entropies: Tensor;
  /** 1 for a real agent token, 0 for padding. [R, A] */
  readonly weights: Tensor;
  /** Full-vocabulary KL(π‖π_ref) at each agent token, when `needs` asks for the full reference. [R, A] */
  readonly kl?: Tensor | undefined;
  /** The critic's value before each agent token, when `needs` asks for a critic. [R, A] */
  readonly values?: Tensor | undefined;
  /** Sum over the agent tokens of each episode: [R, A] → [E]. */
  perEpisode(x: Tensor): Tensor;
  /** Sum over real tokens divided by the number of tokens in the update: [R, A] → []. */
  tokenMean(x: Tensor): Tensor;
  /** Sum over episodes divided by the number of episodes in the update: [E] → []. */
  episodeMean(x: Tensor): Tensor;
}

/** Asks for a number that `prepare` made: [E] for an episode, [R, A] for a token. */
export type LossInput = (name: string, per: 'episode' | 'token') => Tensor;

export interface PolicyOptions {
  /** Adds the input `referenceLogits` [R, A, V] and the KL against it. */
  readonly referenceLogits?: boolean;
  /** Trades time for memory: see `hiddenStates`. */
  readonly recompute?: boolean;
}

const FORBIDDEN = -1e9;

/** The policy on a batch of the given shape; declares the inputs it needs. Parts nobody uses cost nothing. */
export function policyTensors(
  graph: Graph,
  p: Parameters,
  config: ModelConfig,
  shape: BatchShape,
  options: PolicyOptions = {},
): PolicyTensors & { readonly logits: Tensor } {
  const { rows, agentTokens } = shape;
  const perToken = [rows, agentTokens];
  const { tokens, positions, targets, flags, mask: masks, ...rest } = batchInputs(graph, shape, config);

  const states = hiddenStates(graph, p, config, { tokens, flags }, options.recompute);
  const { hidden, logits: free } = logitsAt(graph, p, config, { tokens, flags }, states, positions);
  return graph.scope('policy', () => {
    const flat = (x: Tensor): Tensor => op.reshape(x, [rows * agentTokens]);
    const square = (x: Tensor): Tensor => op.reshape(x, perToken);
    const allowed = masks && op.gather(masks.table, flat(masks.index));
    const mask = allowed && shape.resident ? op.mul(op.sub(1, allowed), FORBIDDEN) : allowed;
    const masked = (logits: Tensor): Tensor => (mask ? op.add(logits, mask) : logits);
    const logits = masked(free);
    const all = op.logSoftmax(logits);
    const probabilities = op.exp(all);
    const kl = (): Tensor => {
      const reference = graph.input('referenceLogits', 'float32', [...perToken, config.vocabulary]);
      const other = op.logSoftmax(masked(op.reshape(reference, [rows * agentTokens, config.vocabulary])));
      return square(op.reduceSum(op.mul(probabilities, op.sub(all, other)), [-1]));
    };
    return {
      logits,
      ...sums(rest, shape),
      logProbs: op.mul(square(logProbability(logits, flat(targets))), rest.weights),
      entropies: op.neg(square(op.reduceSum(op.mul(probabilities, all), [-1]))),
      kl: options.referenceLogits ? kl() : undefined,
      values: config.valueHead ? square(stateValue(p, hidden)) : undefined,
    };
  });
}

/** What every policy takes, whatever its network. */
export interface BatchInputs {
  readonly tokens: Tensor;
  readonly positions: Tensor;
  readonly targets: Tensor;
  readonly weights: Tensor;
  readonly assign: Tensor;
  readonly episodesInUpdate: Tensor;
  readonly tokensInUpdate: Tensor;
  readonly flags: Tensor | undefined;
  /** Rows of a table of masks: 1 for what is allowed where the batch is resident or masks are compact, else what is added. */
  readonly mask: { readonly table: Tensor; readonly index: Tensor } | undefined;
}

export function batchInputs(graph: Graph, shape: BatchShape, layout: BatchLayout): BatchInputs {
  if (shape.resident) return residentInputs(graph, shape, layout);
  const { rows, time, agentTokens, masks } = shape;
  const perToken = [rows, agentTokens];
  const tokens = graph.input('tokens', 'int32', [rows, time]);
  const inputs = {
    tokens,
    positions: graph.input('positions', 'int32', perToken),
    targets: graph.input('targets', 'int32', perToken),
    ...sumInputs(graph, shape),
    flags: layout.aids.matchFlag ? graph.input('flags', 'float32', [rows, time]) : undefined,
  };
  if (masks === 0) return { ...inputs, mask: undefined };
  return { ...inputs, mask: { table: maskTableInput(graph, shape, layout), index: graph.input('maskIndex', 'int32', perToken) } };
}

/** What sums and means are made with. */
export const sumInputs = (graph: Graph, { rows, agentTokens, episodes }: BatchShape) => ({
  weights: graph.input('weights', 'float32', [rows, agentTokens]),
  assign: graph.input('assign', 'float32', [episodes, rows]),
  episodesInUpdate: graph.input('episodesInUpdate', 'float32', []),
  tokensInUpdate: graph.input('tokensInUpdate', 'float32', []),
});

export const maskTableInput = (graph: Graph, { masks }: BatchShape, { compactMasks, vocabulary }: BatchLayout): Tensor =>
  graph.input('maskTable', compactMasks ? 'bool' : 'float32', [masks, vocabulary]);

/** The sums and means that a loss is made of, over real tokens and episodes. */
export function sums(
  { weights, assign, episodesInUpdate, tokensInUpdate }: Pick<BatchInputs, 'weights' | 'assign' | 'episodesInUpdate' | 'tokensInUpdate'>,
  { episodes }: BatchShape,
): Pick<PolicyTensors, 'weights' | 'perEpisode' | 'tokenMean' | 'episodeMean'> {
  const real = (x: Tensor): Tensor => op.mul(x, weights);
  return {
    weights,
    perEpisode: (x) => op.reshape(op.matmul(assign, op.reduceSum(real(x), [1], true)), [episodes]),
    tokenMean: (x) => op.div(op.reduceSum(real(x)), tokensInUpdate),
    episodeMean: (x) => op.div(op.reduceSum(x), episodesInUpdate),
  };
}

/** What the feeds depend on, of a policy's network. */
export interface BatchLayout extends Pick<ModelConfig, 'vocabulary' | 'contextLength'> {
  readonly aids: Pick<ModelConfig['aids'], 'matchFlag'>;
  /** Masks as one byte a token instead of a number to add: for large vocabularies. */
  readonly compactMasks?: boolean;
}

/** A micro-batch ready to be fed: episodes in order, each of one or more rows. */
export class PackedBatch implements FedBatch {
  readonly shape: BatchShape;
  /** Real agent tokens. */
  readonly tokenCount: number;
  readonly feeds: Feeds;
  readonly #rows: readonly EncodedRow[];
  readonly #episodes: readonly (readonly EncodedRow[])[];

  /** `content`: the feeds with the sequences and what is asked of them, where they do not stand one below the other. */
  constructor(
    episodes: readonly (readonly EncodedRow[])[],
    config: BatchLayout,
    shape = shapeOf(episodes, config),
    content: (rows: readonly EncodedRow[]) => Feeds = (all) => separate(all, config, shape),
  ) {
    this.#episodes = episodes;
    this.#rows = episodes.flat();
    this.shape = shape;
    const { rows, agentTokens, masks } = shape;
    const needed = shapeOf(episodes, config, (size) => size);
    for (const key of ['rows', 'time', 'agentTokens', 'masks', 'episodes'] as const) {
      if (needed[key] > shape[key] && !(key === 'masks' && masks === 0)) {
        throw new RangeError(`A batch with ${key} ${needed[key]} does not fit the shape's ${shape[key]}`);
      }
    }
    const weights = new Float32Array(rows * agentTokens);
    for (const [r, { agent }] of this.#rows.entries()) weights.fill(1, r * agentTokens, r * agentTokens + agent.length);
    this.tokenCount = this.#rows.reduce((sum, { agent }) => sum + agent.length, 0);
    this.feeds = { ...content(this.#rows), weights: float(weights, [rows, agentTokens]), assign: this.#assign() };
  }

  /** One number per episode, padded. */
  perEpisode(values: Float32Array): Value {
    const padded = new Float32Array(this.shape.episodes);
    padded.set(values);
    return float(padded, [this.shape.episodes]);
  }

  /** One number per agent token, episode by episode (its rows joined), padded. */
  perToken(values: readonly Float32Array[]): Value {
    const { rows, agentTokens } = this.shape;
    const padded = new Float32Array(rows * agentTokens);
    let r = 0;
    for (const [e, episode] of this.#episodes.entries()) {
      let offset = 0;
      for (const row of episode) {
        padded.set(at(values, e).subarray(offset, offset + row.agent.length), r * agentTokens);
        offset += row.agent.length;
        r++;
      }
      if (values[e]?.length !== offset)
        throw new RangeError(`Episode ${e} has ${offset} agent tokens, but ${values[e]?.length ?? 0} numbers were given`);
    }
    return float(padded, [rows, agentTokens]);
  }

  /** The opposite: the real tokens' numbers out of a result [R, A], episode by episode. */
  unpack(result: Float32Array): Float32Array[] {
    return unpackRows(result, this.#episodes, this.shape.agentTokens);
  }

  /** Divisors of the whole update, of which this batch may be a part. */
  static divisors(episodes: number, tokens: number): Feeds {
    return { episodesInUpdate: scalarValue(Math.max(1, episodes)), tokensInUpdate: scalarValue(Math.max(1, tokens)) };
  }

  #assign(): Value {
    const { rows, episodes } = this.shape;
    const assign = new Float32Array(episodes * rows);
    let r = 0;
    for (const [e, episode] of this.#episodes.entries()) for (const _ of episode) assign[e * rows + r++] = 1;
    return float(assign, [episodes, rows]);
  }
}

/** Sequences one below the other. */
function separate(all: readonly EncodedRow[], config: BatchLayout, { rows, time, agentTokens, masks }: BatchShape): Feeds {
  const tokens = new Int32Array(rows * time);
  const flags = new Float32Array(rows * time);
  const positions = new Int32Array(rows * agentTokens);
  const targets = new Int32Array(rows * agentTokens);
  const maskIndex = new Int32Array(rows * agentTokens);
  const table = new MaskTable(masks, config.vocabulary, config.compactMasks);
  for (const [r, row] of all.entries()) {
    const length = Math.min(row.tokens.length, time);
    tokens.set(row.tokens.slice(0, length), r * time);
    flags.set(row.flags.slice(0, length), r * time);
    for (const [a, { position, target, mask }] of row.agent.entries()) {
      const place = r * agentTokens + a;
      positions[place] = position;
      targets[place] = target;
      maskIndex[place] = table.index(mask);
    }
  }
  return {
    tokens: integer(tokens, [rows, time]),
    positions: integer(positions, [rows, agentTokens]),
    targets: integer(targets, [rows, agentTokens]),
    ...(config.aids.matchFlag ? { flags: float(flags, [rows, time]) } : {}),
    ...(masks > 0 ? { maskIndex: integer(maskIndex, [rows, agentTokens]), maskTable: table.value() } : {}),
  };
}

export function unpackRows(result: Float32Array, episodes: readonly (readonly EncodedRow[])[], agentTokens: number): Float32Array[] {
  let r = 0;
  return episodes.map((episode) => {
    const numbers: number[] = [];
    for (const row of episode) {
      const start = r * agentTokens;
      numbers.push(...result.subarray(start, start + row.agent.length));
      r++;
    }
    return Float32Array.from(numbers);
  });
}

/** Distinct masks as rows of a table; row 0 allows everything and serves the padding. */
export class MaskTable {
  readonly #rows: number;
  readonly #width: number;
  readonly #numbers: Float32Array | Uint8Array;
  readonly #rowOf = new Map<TokenMask, number>();

  /** A compact table holds 1 for what is allowed; else it holds what is added to the logits. */
  constructor(rows: number, width: number, compact = false) {
    this.#rows = rows;
    this.#width = width;
    this.#numbers = compact ? new Uint8Array(rows * width).fill(1, 0, width) : new Float32Array(rows * width);
  }

  index(mask: TokenMask): number {
    if (this.#rows === 0 || mask === EVERYTHING) return 0;
    const cached = this.#rowOf.get(mask);
    if (cached !== undefined) return cached;
    const row = this.#rowOf.size + 1;
    this.#rowOf.set(mask, row);
    const start = row * this.#width;
    const compact = this.#numbers instanceof Uint8Array;
    this.#numbers.fill(compact ? 0 : FORBIDDEN, start, start + this.#width);
    for (const token of mask.allowed) this.#numbers[start + token] = compact ? 1 : 0;
    return row;
  }

  value(): Value {
    const shape = [this.#rows, this.#width];
    return this.#numbers instanceof Uint8Array ? value('bool', this.#numbers, shape) : float(this.#numbers, shape);
  }
}

/** The bucketed shape that holds the episodes. */
export function shapeOf(
  episodes: readonly (readonly EncodedRow[])[],
  config: BatchLayout,
  round: (size: number) => number = bucket,
): BatchShape {
  const rows = episodes.flat();
  const masks = new Set(rows.flatMap((row) => row.agent.map(({ mask }) => mask)));
  return {
    rows: round(rows.length),
    time: Math.min(config.contextLength, round(Math.max(1, ...rows.flatMap((row) => row.agent.map(({ position }) => position + 1))))),
    agentTokens: round(Math.max(1, ...rows.map((row) => row.agent.length))),
    masks: round(masks.size + 1),
    episodes: round(episodes.length),
  };
}

/** 1, 2, 4, 6, … 16, 20, … 32, 40, … 64, 80, …: beyond 8, at most a ninth of it is padding. */
export function bucket(size: number): number {
  if (size <= 2) return size;
  let step = 2;
  while (size > step * 8) step *= 2;
  return Math.ceil(size / step) * step;
}
