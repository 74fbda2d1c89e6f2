// The policy network: a decoder-only Transformer with RMSNorm before each part, rotary positions, causal attention, a gated
// feed-forward and tied embeddings, without biases. Three optional aids help a small model to copy from its context: a mark on
// tokens that occur in the task, a look at the tokens before, and a pointer that adds attention over the context to the logits.
// The parts are functions on rows [n, width], so that training (all of time at once) and sampling (one token a row) share them.
// Whole sequences are laid out time-major, row = time · R + r: the batched products then read heads in place, without transposes.

import { at } from '../../base/indexed.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import { attention, gated } from '../../engine/graph/fused.ts';
import * as op from '../../engine/graph/operators.ts';
import { ParameterLayout } from '../../engine/graph/parameters.ts';
import type { ParameterSpec, Parameters } from '../../engine/graph/parameters.ts';
import { lstmLayer, lstmParameters } from './lstm.ts';
import { embeddingRows, type Spellings, spellingTable } from '../text/spelling.ts';

export interface ModelConfig {
  /** Missing: layers of attention. Then heads, feedForward and gate do not apply. */
  readonly architecture?: 'lstm';
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly gate: 'swiglu' | 'relu' | 'relu2' | 'silu';
  readonly contextLength: number;
  readonly valueHead: boolean;
  /** Missing: every token has a vector of its own. */
  readonly spellings?: Spellings;
  /** `tokenShift`: how many of the tokens before it each token sees directly; 0 is none. */
  readonly aids: { readonly matchFlag: boolean; readonly pointer: boolean; readonly tokenShift: number };
}

export const EPSILON = 1e-6;
const ROTARY_BASE = 10_000;
/** Added to a score that must not count. */
const NEVER = -1e9;

const shiftName = (back: number): string => `shift.${back}`;
const headSize = (config: ModelConfig): number => config.width / config.heads;
/** Channels of the pointer's queries and keys. */
export const pointerSize = (config: ModelConfig): number => Math.min(config.width, 64);

/** Every parameter by name, as matrices [out, in] like PyTorch's. */
export function modelLayout(config: ModelConfig): ParameterLayout {
  const { vocabulary, width, layers, feedForward, gate, aids, valueHead, spellings } = config;
  if (config.architecture !== 'lstm' && (width % config.heads !== 0 || headSize(config) % 2 !== 0)) {
    throw new RangeError(`A width of ${width} cannot be shared by ${config.heads} heads: each needs an even number of channels`);
  }
  const matrix = (name: string, out: number, inner: number, deviation = 1 / Math.sqrt(inner)): ParameterSpec => ({
    name,
    shape: [out, inner],
    decay: true,
    deviation,
  });
  const vector = (name: string, size: number, mean: number): ParameterSpec => ({ name, shape: [size], decay: false, mean });
  const residual = 1 / Math.sqrt(2 * layers);
  const specs = [matrix('embedding', spellings ? embeddingRows(spellings) : vocabulary, width, 0.5 / Math.sqrt(width))];
  if (aids.matchFlag) specs.push(vector('match', width, 0));
  // Each distance mixes in with different random signs, so that layers can distinguish the neighbours.
  for (let back = 1; back <= aids.tokenShift; back++) specs.push({ name: shiftName(back), shape: [width], decay: false, deviation: 0.5 });
  for (let layer = 0; layer < layers; layer++) {
    if (config.architecture === 'lstm') {
      specs.push(...lstmParameters(layer, width));
      continue;
    }
    const name = (part: string): string => `layer.${layer}.${part}`;
    specs.push(vector(name('attention.norm'), width, 1));
    for (const part of ['query', 'key', 'value']) specs.push(matrix(name(`attention.${part}`), width, width));
    specs.push(matrix(name('attention.output'), width, width, residual / Math.sqrt(width)));
    specs.push(vector(name('feedForward.norm'), width, 1));
    if (gate === 'swiglu') specs.push(matrix(name('feedForward.gate'), feedForward, width));
    specs.push(matrix(name('feedForward.up'), feedForward, width));
    specs.push(matrix(name('feedForward.down'), width, feedForward, residual / Math.sqrt(feedForward)));
  }
  specs.push(vector('norm', width, 1));
  if (aids.pointer) {
    specs.push(matrix('pointer.query', pointerSize(config), width), matrix('pointer.key', pointerSize(config), width));
    specs.push(matrix('pointer.gate', 1, width, 0), vector('pointer.amount', 1, 4));
  }
  if (valueHead) specs.push(matrix('value.weight', 1, width, 0), vector('value.bias', 1, 0));
  return new ParameterLayout(specs);
}

// ── parts, on rows [n, width] ────────────────────────────────────────────────────────────────────────────────────

const linear = (x: Tensor, weight: Tensor): Tensor => op.matmul(x, weight, { transposeB: true });

/** Token ids [n], and match flags [n] (0 or 1) where the model uses them. */
export function embed(p: Parameters, config: ModelConfig, tokens: Tensor, flags: Tensor | undefined): Tensor {
  const x = config.spellings
    ? op.matmul(op.gather(spellingTable(tokens.graph, config.spellings), tokens), p('embedding'))
    : op.gather(p('embedding'), tokens);
  if (!config.aids.matchFlag) return x;
  if (!flags) throw new RangeError('The model has the match flag, but no flags were given');
  return op.add(x, op.matmul(op.reshape(flags, [...flags.shape, 1]), op.reshape(p('match'), [1, config.width])));
}

/** Adds shares of the embeddings of the tokens before; `before(back)` is that of `back` tokens earlier (zeros at the beginning). */
export function tokenShift(p: Parameters, config: ModelConfig, x: Tensor, before: (back: number) => Tensor): Tensor {
  let mixed = x;
  for (let back = 1; back <= config.aids.tokenShift; back++) mixed = op.add(mixed, op.mul(before(back), p(shiftName(back))));
  return mixed;
}

export interface Projections {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/**
 * Normalised rows through each matrix. Where there are many rows, the gain goes into the matrices instead of the rows: that is the
 * same product, but the matrices are smaller, and so is their gradient.
 */
function normalisedThrough(x: Tensor, gain: Tensor, weights: readonly Tensor[]): readonly Tensor[] {
  const [rows = 0, width = 0] = x.shape;
  if (typeof rows === 'number' && rows >= 2 * Number(width)) {
    const normal = op.normalise(x, EPSILON);
    return weights.map((weight) => linear(normal, op.mul(weight, gain)));
  }
  const normal = op.rmsNorm(x, gain, EPSILON);
  return weights.map((weight) => linear(normal, weight));
}

/** What attention works on; queries and keys are not yet turned by their positions. */
export function projections(p: Parameters, layer: number, x: Tensor): Projections {
  const name = (part: string): string => `layer.${layer}.attention.${part}`;
  const weights = ['query', 'key', 'value'].map((part) => p(name(part)));
  const [query = x, key = x, value = x] = normalisedThrough(x, p(name('norm')), weights);
  return { query, key, value };
}

/** x plus what attention has gathered ([n, width], heads side by side). */
export function attentionOutput(p: Parameters, layer: number, x: Tensor, gathered: Tensor): Tensor {
  return op.add(x, linear(gathered, p(`layer.${layer}.attention.output`)));
}

/** x plus the feed-forward part. */
export function feedForward(p: Parameters, config: ModelConfig, layer: number, x: Tensor): Tensor {
  const name = (part: string): string => `layer.${layer}.feedForward.${part}`;
  const weights = (config.gate === 'swiglu' ? ['up', 'gate'] : ['up']).map((part) => p(name(part)));
  const [up = x, gate = x] = normalisedThrough(x, p(name('norm')), weights);
  const active = {
    swiglu: () => gated(gate, up),
    silu: () => op.silu(up),
    relu: () => op.relu(up),
    relu2: () => op.square(op.relu(up)),
  }[config.gate]();
  return op.add(x, linear(active, p(name('down'))));
}

export const finalNorm = (p: Parameters, x: Tensor): Tensor => op.rmsNorm(x, p('norm'), EPSILON);

export function vocabularyLogits(p: Parameters, { spellings }: ModelConfig, hidden: Tensor): Tensor {
  const logits = linear(hidden, p('embedding'));
  return spellings ? linear(logits, spellingTable(hidden.graph, spellings)) : logits;
}

export const pointerQuery = (p: Parameters, hidden: Tensor): Tensor => linear(hidden, p('pointer.query'));
export const pointerKey = (p: Parameters, hidden: Tensor): Tensor => linear(hidden, p('pointer.key'));
/** How much a full attention weight adds to its token's logit: [n, 1]. */
export const pointerAmount = (p: Parameters, hidden: Tensor): Tensor => op.add(linear(hidden, p('pointer.gate')), p('pointer.amount'));
export const pointerScale = (config: ModelConfig): number => 1 / Math.sqrt(pointerSize(config));
export const attentionScale = (config: ModelConfig): number => 1 / Math.sqrt(headSize(config));
/** The critic's value: [n, 1]. */
export const stateValue = (p: Parameters, hidden: Tensor): Tensor => op.add(linear(hidden, p('value.weight')), p('value.bias'));

/** Cosine and sine of every position's angles, each [length, head size / 2]. */
export function rotaryTables(graph: Graph, config: ModelConfig, length = config.contextLength): { cosine: Tensor; sine: Tensor } {
  const half = headSize(config) / 2;
  const table = (turn: (angle: number) => number): Float32Array =>
    Float32Array.from({ length: length * half }, (_, i) => turn(rotaryAngle(Math.floor(i / half), i % half, half)));
  return {
    cosine: graph.constant(table(Math.cos), [length, half], 'float32', 'rotary.cosine'),
    sine: graph.constant(table(Math.sin), [length, half], 'float32', 'rotary.sine'),
  };
}

/** By how much a position turns the pair of channels `index` and `index` + `half` of a head. */
export const rotaryAngle = (position: number, index: number, half: number): number => position * ROTARY_BASE ** (-index / half);

// ── whole sequences ──────────────────────────────────────────────────────────────────────────────────────────────

export interface Sequences {
  /** int32 [R, T] */
  readonly tokens: Tensor;
  /** float32 [R, T]: 1 where a token also occurs in the task. */
  readonly flags?: Tensor | undefined;
}

/** The final hidden states, time-major [T · R, width]. With `recompute` the backward pass computes each layer again instead of keeping its inside. */
export function hiddenStates(graph: Graph, p: Parameters, config: ModelConfig, { tokens, flags }: Sequences, recompute = false): Tensor {
  const [rows = 0, time = 0] = tokens.sizes;
  if (time > config.contextLength)
    throw new RangeError(`Sequences of ${time} tokens do not fit the model's context of ${config.contextLength}`);
  const timeMajor = (x: Tensor): Tensor => op.reshape(op.transpose(x, [1, 0]), [time * rows]);

  let x = graph.scope('embed', () => {
    const embedded = embed(p, config, timeMajor(tokens), flags && timeMajor(flags));
    const before = (back: number): Tensor => {
      const start = op.full(embedded, [Math.min(back, time) * rows, config.width], 0);
      return time <= back ? start : op.concat([start, op.slice(embedded, 0, 0, (time - back) * rows)], 0);
    };
    return tokenShift(p, config, embedded, before);
  });

  const attend = config.architecture === 'lstm' ? undefined : causalAttention(graph, config, rows, time);
  for (let layer = 0; layer < config.layers; layer++) {
    const block = (input: Tensor): Tensor => {
      if (!attend) return lstmLayer(graph, p, layer, input, rows);
      const attended = graph.scope('attention', () => attentionOutput(p, layer, input, attend(projections(p, layer, input))));
      return graph.scope('feedForward', () => feedForward(p, config, layer, attended));
    };
    const name = `layer.${layer}`;
    x = recompute ? graph.recomputed(name, [x], block) : graph.scope(name, () => block(x));
  }
  return graph.scope('final', () => finalNorm(p, x));
}

/** Attention of every position over itself and those before it. */
function causalAttention(graph: Graph, config: ModelConfig, rows: number, time: number): (parts: Projections) => Tensor {
  const { heads, width } = config;
  // The kernel takes [time, rows] for [batch, time] and wants tables at least as long as what it takes for time.
  const { cosine, sine } = rotaryTables(graph, config, Math.max(time, rows));
  const positions = graph.constant(
    BigInt64Array.from({ length: time * rows }, (_, i) => BigInt(Math.floor(i / rows))),
    [time, rows],
    'int64',
    'rotary.positions',
  );
  const split = (x: Tensor): Tensor => op.reshape(x, [time, rows, heads, headSize(config)]);
  const turned = (x: Tensor): Tensor => split(op.rotary(op.reshape(x, [time, rows, width]), positions, cosine, sine, heads));
  return ({ query, key, value }) => {
    const gathered = attention(turned(query), turned(key), split(value), attentionScale(config)); // [T, R, heads, size]
    return op.reshape(gathered, [time * rows, width]);
  };
}

/** Logits at chosen positions int32 [R, A] of the sequences: the hidden states there, and their logits [R · A, vocabulary]. */
export function logitsAt(
  graph: Graph,
  p: Parameters,
  config: ModelConfig,
  { tokens }: Sequences,
  hidden: Tensor,
  positions: Tensor,
): { hidden: Tensor; logits: Tensor } {
  return graph.scope('head', () => {
    const [rows = 0, time = 0] = tokens.sizes;
    const count = at(positions.sizes, 1);
    const row = graph.constant(
      Int32Array.from({ length: rows }, (_, i) => i),
      [rows, 1],
      'int32',
      'row',
    );
    const picked = op.gather(hidden, op.reshape(op.add(op.mul(positions, rows), row), [rows * count]));
    const logits = vocabularyLogits(p, config, picked);
    if (!config.aids.pointer) return { hidden: picked, logits };

    const width = pointerSize(config);
    const query = op.reshape(pointerQuery(p, picked), [rows, count, width]);
    const key = op.reshape(pointerKey(p, hidden), [time, rows, width]);
    const scores = op.matmul(query, key, { rowsFirstB: true, transposeB: true, scale: pointerScale(config) }); // [R, A, T]
    const times = graph.constant(
      Int32Array.from({ length: time }, (_, i) => i),
      [time],
      'int32',
      'time',
    );
    const ahead = op.greater(times, op.reshape(positions, [rows, count, 1]));
    const attention = op.softmax(op.where(ahead, NEVER, scores));
    // Each place's weight goes to the logit of the token that stands there: a scatter, because one-hot rows cost more than a layer.
    const starts = graph.constant(
      Int32Array.from({ length: rows * count }, (_, i) => i * config.vocabulary),
      [rows, count, 1],
      'int32',
      'logitStarts',
    );
    const places = op.reshape(op.add(op.reshape(tokens, [rows, 1, time]), starts), [rows * count * time]);
    const amounts = op.mul(op.reshape(attention, [rows * count, time]), pointerAmount(p, picked));
    const pointed = op.scatterRows(
      op.reshape(logits, [rows * count * config.vocabulary]),
      places,
      op.reshape(amounts, places.shape),
      'add',
      { tokens, vocabulary: config.vocabulary },
    );
    return { hidden: picked, logits: op.reshape(pointed, logits.shape) };
  });
}
