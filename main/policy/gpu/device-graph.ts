// The policy network for writing on a device: like sampling-graph.ts, but everything that one token needs of another stays there. New keys
// and values are put into the cache by the graph itself (fed and fetched as the same buffer, so nothing is copied), the attention's
// mask follows from positions, and the next token is drawn from a uniform number that the host supplies: only the drawn token and a
// few numbers about it come back, in one small tensor. Keys are kept [row, head, channel, time], ready to be multiplied.

import { at } from '../../base/indexed.ts';
import { Graph } from '../../engine/graph/graph.ts';
import type { Dimension, DType, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import type { Parameters } from '../../engine/graph/parameters.ts';
import { digits, digitsPerWord } from './device-batch.ts';
import { TOP_ALTERNATIVES } from '../sampling/draw.ts';
import * as net from '../transformer/transformer.ts';
import type { ModelConfig } from '../transformer/transformer.ts';

/** One tensor of the cache: the sizes of all its axes but rows (the first) and time. */
export interface DeviceStream {
  readonly name: string;
  readonly dtype: DType;
  /** [rows, ...shape], where time is named 'time'. */
  readonly shape: readonly Dimension[];
}

/** How a network is sampled on a device. */
export interface DeviceSampling {
  readonly streams: readonly DeviceStream[];
  /** See `deviceSamplingGraph`. */
  graph(count: number, parameters: (graph: Graph) => Parameters): Graph;
}

/** Numbers that come back of each row: token, log-probability of the draw and of the policy, entropy, alternatives and their probabilities. */
export const DRAWN_NUMBERS = 4 + 2 * TOP_ALTERNATIVES;

/** A token travels with its flag (−1, 0 or 1), as one number below `tokenBase`. */
const FLAGS = 4;
export const withFlag = (token: number, flag: number): number => FLAGS * token + Math.sign(flag) + 1;
export const tokenBase = (vocabulary: number): number => FLAGS * vocabulary;
/** The most tokens that a row reads in a call. */
const MOST_READ = 64;
/** Where a row's first new token stands, and which of the new ones is its last, as one number. */
export const readCode = (place: number, last: number): number => place * MOST_READ + last;

/** Added to a score that must not count, and what a forbidden logit becomes. */
const NEVER = -1e9;
const FORBIDDEN = -1e30;
/** Above every token's number. */
const NO_TOKEN = 2 ** 24;
/** Sums of attention weights are exact and in any order the same as whole numbers of this size. */
const FIXED_POINT = 2 ** 30;

export function deviceStreams(config: ModelConfig): readonly DeviceStream[] {
  const size = config.width / config.heads;
  const layers = Array.from({ length: config.layers }, (_, layer): DeviceStream[] => [
    { name: `layer.${layer}.key`, dtype: 'float32', shape: ['rows', config.heads, size, 'time'] },
    { name: `layer.${layer}.value`, dtype: 'float32', shape: ['rows', config.heads, 'time', size] },
  ]).flat();
  if (!config.aids.pointer) return layers;
  return [
    ...layers,
    { name: 'pointer.key', dtype: 'float32', shape: ['rows', net.pointerSize(config), 'time'] },
    { name: 'tokens', dtype: 'int32', shape: ['rows', 1, 'time'] },
  ];
}

/** What a call of the sampler reads: the new tokens with the few before them that they see directly, and where they stand. */
export interface NewTokens {
  /** [rows, count + token shift], each with its flag. */
  readonly packed: Tensor;
  readonly tokens: Tensor;
  /** [rows, 1]: the position of the first new token, and which of the new ones is the last real one. */
  readonly place: Tensor;
  readonly last: Tensor;
}

/**
 * Unpacks the tokens of all rows, which travel as one list without gaps. Inputs: `words` (several tokens to a word), `starts` [rows, 1]
 * (where a row's stretch begins), `reads` [rows, 1] (see `readCode`).
 */
export function newTokens(graph: Graph, count: number, tokenShift: number, vocabulary: number): NewTokens {
  const reads = graph.input('reads', 'int32', ['rows', 1]);
  const place = op.div(reads, MOST_READ);
  const last = op.sub(reads, op.mul(place, MOST_READ));
  const before = op.minimum(place, tokenShift); // how many of the tokens before there are
  const slots = op.sub(op.add(before, counting(graph, count + tokenShift)), tokenShift);
  const within = op.minimum(op.maximum(slots, 0), op.add(before, last));
  const base = tokenBase(vocabulary);
  const places = op.add(graph.input('starts', 'int32', ['rows', 1]), within);
  const packed = digits(graph.input('words', 'int32', ['words']), places, base, digitsPerWord(base));
  return { packed, tokens: op.div(packed, FLAGS), place, last };
}

/**
 * Reads `count` tokens per row and draws the next. Inputs beside the cache: those of `newTokens`, `times` [time] (0, 1, 2, …), and what the draw needs: `uniform`, `mask` (a row of `maskTable`), `inverseTemperature`, `greedy`.
 */
export function deviceSamplingGraph(config: ModelConfig, count: number, parameters: (graph: Graph) => Parameters): Graph {
  const graph = new Graph(`play ${count}`);
  const p = parameters(graph);
  const { heads, width, aids } = config;
  const size = width / heads;
  const window = count + aids.tokenShift;
  const { packed, tokens, place, last } = newTokens(graph, count, aids.tokenShift, config.vocabulary);
  const places = op.add(place, counting(graph, count)); // [rows, count]
  const positions = wide(places, count, config.contextLength);
  const cache = new CacheWriter(graph, deviceStreams(config), places, count);

  const flags = aids.matchFlag ? op.cast(op.sub(op.sub(packed, op.mul(tokens, FLAGS)), 1), 'float32') : undefined;
  const embedded = net.embed(p, config, tokens, flags);
  let x = graph.scope('embed', () => {
    if (aids.tokenShift === 0) return embedded;
    // What would lie before the row's beginning is nothing.
    const before = op.less(op.add(place, counting(graph, window)), aids.tokenShift);
    const real = op.where(op.reshape(before, ['rows', window, 1]), 0, embedded);
    const earlier = (back: number): Tensor => along(real, count, window - count - back);
    return net.tokenShift(p, config, earlier(0), earlier);
  });

  const { cosine, sine } = net.rotaryTables(graph, config);
  const split = (part: Tensor, order: readonly number[]): Tensor => op.transpose(op.reshape(part, ['rows', count, heads, size]), order);
  const times = graph.input('times', 'int32', ['time']);
  const ahead = op.greater(times, op.reshape(places, ['rows', 1, count, 1])); // [rows, 1, count, time]
  for (let layer = 0; layer < config.layers; layer++) {
    graph.scope(`layer.${layer}`, () => {
      const parts = net.projections(p, layer, x);
      const query = split(op.rotary(parts.query, positions, cosine, sine, heads), [0, 2, 1, 3]);
      const keys = cache.write(`layer.${layer}.key`, split(op.rotary(parts.key, positions, cosine, sine, heads), [0, 2, 3, 1]));
      const values = cache.write(`layer.${layer}.value`, split(parts.value, [0, 2, 1, 3]));
      const scores = op.matmul(op.mul(query, net.attentionScale(config)), keys);
      const gathered = op.matmul(op.softmax(op.where(ahead, NEVER, scores)), values); // [rows, heads, count, size]
      x = net.attentionOutput(p, layer, x, op.reshape(op.transpose(gathered, [0, 2, 1, 3]), ['rows', count, width]));
      x = net.feedForward(p, config, layer, x);
    });
  }

  const hidden = net.finalNorm(p, x); // [rows, count, width]
  const final = graph.scope('last', () => pickLast(hidden, last));
  let logits = net.vocabularyLogits(p, config, final); // [rows, vocabulary]
  if (aids.pointer) {
    logits = graph.scope('pointer', () => {
      const keys = cache.write('pointer.key', op.transpose(net.pointerKey(p, hidden), [0, 2, 1]));
      const seen = cache.write('tokens', op.reshape(columns(tokens, count, aids.tokenShift), ['rows', 1, count]));
      const query = op.reshape(net.pointerQuery(p, final), ['rows', 1, net.pointerSize(config)]);
      const scores = op.mul(op.matmul(query, keys), net.pointerScale(config)); // [rows, 1, time]
      const beyond = op.greater(times, op.reshape(op.add(place, last), ['rows', 1, 1]));
      const weights = op.softmax(op.where(beyond, NEVER, scores));
      return op.add(logits, op.mul(tokenSums(logits, seen, weights), net.pointerAmount(p, final)));
    });
  }
  graph.output(
    'drawn',
    graph.scope('draw', () => draw(graph, logits)),
  );
  return graph;
}

/**
 * Positions as the rotary kernel wants them, with 64 bits. A device has no way to widen a number but to count: the place of the one in a
 * one-hot row. Padding may lie beyond the end.
 */
export function wide(places: Tensor, count: number, length: number): Tensor {
  const within = op.reshape(op.minimum(places, length - 1), ['rows', count, 1]);
  const oneHot = op.cast(op.equal(within, counting(places.graph, length)), 'float32');
  return node('ArgMax', [oneHot], ['rows', count], 'int64', { axis: 2, keepdims: 0 });
}

/** Puts what is new of every row into the cache, at the row's places. */
export class CacheWriter {
  readonly #graph: Graph;
  readonly #streams: readonly DeviceStream[];
  readonly #places: Tensor;
  readonly #count: number;
  readonly #indices = new Map<string, Tensor>();

  constructor(graph: Graph, streams: readonly DeviceStream[], places: Tensor, count: number) {
    this.#graph = graph;
    this.#streams = streams;
    this.#places = places;
    this.#count = count;
  }

  /** The whole stream, what is new included; `fresh` has `count` where the stream has time. */
  write(name: string, fresh: Tensor): Tensor {
    const stream = this.#streams.find((candidate) => candidate.name === name);
    if (!stream) throw new Error(`There is no stream "${name}" in the cache`);
    const old = this.#graph.input(`cache.${name}`, stream.dtype, stream.shape);
    const axis = stream.shape.indexOf('time');
    const written = node('ScatterElements', [old, this.#index(fresh, axis), fresh], old.shape, stream.dtype, { axis });
    this.#graph.output(`next.${name}`, written);
    return written;
  }

  /** Each new number's place in time; streams of the same shape share them. */
  #index({ shape }: Tensor, axis: number): Tensor {
    const key = `${shape.join('×')} ${axis}`;
    const cached = this.#indices.get(key);
    if (cached) return cached;
    const thin = shape.map((size, i) => (i === 0 ? size : i === axis ? this.#count : 1));
    const index = op.expand(op.reshape(this.#places, thin), shape);
    this.#indices.set(key, index);
    return index;
  }
}

/** [rows, count, width] and the number of one of the tokens in each row give [rows, width]. */
export function pickLast(x: Tensor, last: Tensor): Tensor {
  const count = Number(at(x.shape, 1));
  const width = Number(at(x.shape, 2));
  if (count === 1) return op.reshape(x, ['rows', width]);
  const isLast = op.cast(op.equal(last, counting(x.graph, count)), 'float32');
  return op.reshape(op.matmul(op.reshape(isLast, ['rows', 1, count]), x), ['rows', width]);
}

/** The weights [rows, 1, time] of all places where a token stands, for every token: [rows, vocabulary]. */
function tokenSums(logits: Tensor, seen: Tensor, weights: Tensor): Tensor {
  const vocabulary = at(logits.shape, 1);
  const none = op.cast(op.mul(op.reshape(logits, ['rows', 1, vocabulary]), 0), 'int32');
  const amounts = op.cast(op.mul(weights, FIXED_POINT), 'int32');
  const sums = node('ScatterElements', [none, seen, amounts], none.shape, 'int32', { axis: 2, reduction: 'add' });
  return op.reshape(op.mul(op.cast(sums, 'float32'), 1 / FIXED_POINT), logits.shape);
}

/** Draws a token of each row as draw.ts does, in single precision: [rows, DRAWN_NUMBERS]. */
export function draw(graph: Graph, free: Tensor): Tensor {
  const vocabulary = Number(at(free.shape, 1));
  const perRow = (name: string, dtype: DType): Tensor => graph.input(name, dtype, ['rows', 1]);
  const table = graph.input('maskTable', 'float32', ['masks', vocabulary]);
  const allowed = op.gather(table, op.reshape(perRow('mask', 'int32'), ['rows']));
  const logits = op.where(op.greater(allowed, 0.5), free, FORBIDDEN);
  const ids = graph.constant(
    Float32Array.from({ length: vocabulary }, (_, id) => id),
    [1, vocabulary],
    'float32',
    'ids',
  );
  const firstWhere = (condition: Tensor): Tensor =>
    node('ReduceMin', [op.where(condition, ids, NO_TOKEN)], ['rows', 1], 'float32', { axes: [1], keepdims: 1 });
  const log = (scores: Tensor) => {
    const shifted = op.sub(scores, op.reduceMax(scores, [1], true));
    const weights = op.exp(shifted);
    return { shifted, weights, total: op.reduceSum(weights, [1], true) };
  };

  const policy = log(logits);
  const { shifted, weights, total } = log(op.mul(logits, graph.input('inverseTemperature', 'float32', [])));
  const sums = node('CumSum', [weights, graph.constant(Int32Array.of(1), [1])], weights.shape, 'float32', {});
  const top: { token: Tensor; weight: Tensor }[] = [];
  let left = weights;
  for (let i = 0; i < TOP_ALTERNATIVES; i++) {
    const weight = op.reduceMax(left, [1], true);
    const token = firstWhere(op.equal(left, weight));
    top.push({ token, weight });
    left = op.where(op.equal(token, ids), -1, left);
  }
  const threshold = op.mul(perRow('uniform', 'float32'), slice(sums, vocabulary - 1));
  const drawn = firstWhere(op.greater(sums, threshold));
  const token = op.where(op.greater(graph.input('greedy', 'float32', []), 0.5), at(top, 0).token, drawn);
  const pick = (x: Tensor): Tensor => op.reduceSum(op.where(op.equal(token, ids), x, 0), [1], true);
  const logTotal = op.log(total);
  const entropy = op.sub(logTotal, op.div(op.reduceSum(op.mul(weights, shifted), [1], true), total));
  const numbers = [
    token,
    op.sub(pick(shifted), logTotal),
    op.sub(pick(policy.shifted), op.log(policy.total)),
    op.maximum(entropy, 0),
    ...top.map((one) => one.token),
    ...top.map(({ weight }) => op.div(weight, total)),
  ];
  return node('Concat', numbers, ['rows', DRAWN_NUMBERS], 'float32', { axis: 1 });
}

export const counting = (graph: Graph, length: number): Tensor =>
  graph.constant(
    Int32Array.from({ length }, (_, i) => i),
    [length],
    'int32',
    'counting',
  );

/** `size` places of axis 1 from `start` on. */
const along = (x: Tensor, size: number, start: number): Tensor =>
  node('Slice', [x], x.shape.with(1, size), x.dtype, { axis: 1, start, end: start + size });

/** The last place of axis 1. */
const slice = (x: Tensor, place: number): Tensor => along(x, 1, place);

/** The same of whole numbers, which a device cannot slice. */
function columns(x: Tensor, size: number, start: number): Tensor {
  if (x.shape[1] === size) return x;
  const indices = x.graph.constant(
    Int32Array.from({ length: size }, (_, i) => start + i),
    [size],
    'int32',
    'columns',
  );
  return node('Gather', [x, indices], x.shape.with(1, size), x.dtype, { axis: 1 });
}

export function node(
  name: string,
  inputs: readonly Tensor[],
  shape: readonly Dimension[],
  dtype: DType,
  attributes: Record<string, number | string | readonly number[]>,
): Tensor {
  const [output] = at(inputs, 0).graph.node(name, inputs, [{ shape, dtype }], attributes);
  if (!output) throw new Error(`${name} gave no output`);
  return output;
}
