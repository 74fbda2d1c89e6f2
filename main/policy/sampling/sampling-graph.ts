// The policy network for writing: a few new tokens per row, on top of the keys and values of all earlier ones. Built from
// the same parts and the same parameters as the training graph. The cache is an input that the graph never copies: it
// attends to the old keys and to the new ones apart, joins only the scores, and returns the new keys and values alone, for
// the caller to put in place. (Measured inside Electron: a cache that is also an output is copied whole at every call.)
// Rows come first in the cache [row, head, time, channel]: reading it costs less than half of time first.

import { at } from '../../base/indexed.ts';
import { Graph } from '../../engine/graph/graph.ts';
import type { Shape, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import type { Group, ParameterLayout, Parameters } from '../../engine/graph/parameters.ts';
import { float } from '../../engine/runtime/session.ts';
import type { Value } from '../../engine/runtime/session.ts';
import { lstmSteps } from '../transformer/lstm.ts';
import * as net from '../transformer/transformer.ts';
import type { ModelConfig } from '../transformer/transformer.ts';

/** Every parameter as an input under its name: fed straight from the training state, without a copy. */
export function parameterInputs(graph: Graph, layout: ParameterLayout): Parameters {
  const shapes = new Map(layout.specs.map(({ name, shape }) => [name, shape]));
  return (name) => graph.inputs.get(name) ?? graph.input(name, 'float32', shapeOf(shapes, name));
}

export function parameterFeeds(layout: ParameterLayout, weights: Readonly<Record<Group, Float32Array>>): Record<string, Value> {
  return Object.fromEntries(layout.specs.map(({ name, shape }) => [name, float(layout.view(weights, name), shape)]));
}

function shapeOf(shapes: ReadonlyMap<string, readonly number[]>, name: string): readonly number[] {
  const shape = shapes.get(name);
  if (!shape) throw new Error(`The model asks for the parameter "${name}", which its layout does not have`);
  return shape;
}

/** One cached tensor: keys or values of a layer, or the pointer's keys. */
export interface Stream {
  readonly name: string;
  readonly heads: number;
  readonly size: number;
}

export function cacheStreams(config: ModelConfig): readonly Stream[] {
  const { heads, width } = config;
  const layers = Array.from({ length: config.layers }, (_, layer): Stream[] => {
    if (config.architecture === 'lstm') return [{ name: `layer.${layer}.state`, heads: 1, size: 2 * width }];
    return ['key', 'value'].map((part) => ({ name: `layer.${layer}.${part}`, heads, size: width / heads }));
  }).flat();
  return config.aids.pointer ? [...layers, { name: 'pointer.key', heads: 1, size: net.pointerSize(config) }] : layers;
}

/**
 * Reads `count` tokens per row. The rows and the filled time are known only at run time: `total` = `time` + `count`.
 * The inputs `cache.…` are [rows, heads, time, size].
 * Gives `logits` [rows, vocabulary] after the token named by `last`, `new.…` [rows, heads, count, size] for every stream, and
 * with the pointer its `attention` [rows, 1, total] and `amount` [rows, 1]; adding them to the tokens' logits is left to the caller.
 */
export function samplingGraph(config: ModelConfig, count: number, parameters: (graph: Graph) => Parameters): Graph {
  const graph = new Graph(`read ${count}`);
  const p = parameters(graph);
  const { width, aids } = config;
  const integers = (name: string, length: number): Tensor => graph.input(name, 'int32', ['rows', length]);
  const numbers = (name: string, length: number): Tensor => graph.input(name, 'float32', ['rows', length]);

  const positions = graph.input('positions', 'int64', ['rows', count]);
  const mask = graph.input('mask', 'float32', ['rows', 1, count, 'total']);
  // The new tokens come with the few before them that they see directly; `present` is 0 where a row had none yet.
  const window = count + aids.tokenShift;
  const embedded = net.embed(p, config, integers('tokens', window), aids.matchFlag ? numbers('flags', window) : undefined);
  const real = aids.tokenShift > 0 ? op.mul(embedded, op.reshape(numbers('present', window), ['rows', window, 1])) : embedded;
  const earlier = (back: number): Tensor => (window === count ? real : along(real, 1, count, window - count - back));
  let x = net.tokenShift(p, config, earlier(0), earlier);

  const cached = (name: string, like: Tensor): Tensor => {
    graph.output(`new.${name}`, like);
    return graph.input(`cache.${name}`, 'float32', ['rows', at(like.shape, 1), 'time', at(like.shape, 3)]);
  };
  const block = config.architecture === 'lstm' ? memory(graph, p, positions) : attending(graph, p, config, { positions, mask, cached });
  for (let layer = 0; layer < config.layers; layer++) x = graph.scope(`layer.${layer}`, () => block(layer, x));

  const hidden = net.finalNorm(p, x); // [rows, count, width]
  const last = count === 1 ? op.reshape(hidden, ['rows', width]) : pickRow(hidden, graph.input('last', 'int64', ['rows', 1]));
  graph.output('logits', net.vocabularyLogits(p, config, last));
  if (aids.pointer) {
    graph.scope('pointer', () => {
      const channels = net.pointerSize(config);
      const key = op.reshape(net.pointerKey(p, hidden), ['rows', 1, count, channels]);
      const query = op.reshape(net.pointerQuery(p, last), ['rows', 1, 1, channels]);
      const lastMask = count === 1 ? mask : graph.input('lastMask', 'float32', ['rows', 1, 1, 'total']);
      graph.output('attention', attention(query, cached('pointer.key', key), key, lastMask, net.pointerScale(config)));
      graph.output('amount', net.pointerAmount(p, last));
    });
  }
  return graph;
}

/** What attends to the keys and values of earlier tokens: `cached` names the new ones as results and gives the old ones. */
interface Attending {
  readonly positions: Tensor;
  readonly mask: Tensor;
  readonly cached: (name: string, like: Tensor) => Tensor;
}

/** A layer of attention and feed-forward over new tokens x [rows, count, width]. */
function attending(graph: Graph, p: Parameters, config: ModelConfig, { positions, mask, cached }: Attending) {
  const { heads, width } = config;
  const size = width / heads;
  const { cosine, sine } = net.rotaryTables(graph, config);
  return (layer: number, x: Tensor): Tensor => {
    const count = Number(at(x.shape, 1));
    const split = (part: Tensor): Tensor => {
      if (count === 1) return op.reshape(part, ['rows', heads, 1, size]);
      return op.transpose(op.reshape(part, ['rows', count, heads, size]), [0, 2, 1, 3]);
    };
    const parts = net.projections(p, layer, x);
    const query = split(op.rotary(parts.query, positions, cosine, sine, heads));
    const key = split(op.rotary(parts.key, positions, cosine, sine, heads));
    const value = split(parts.value);
    const weights = attention(query, cached(`layer.${layer}.key`, key), key, mask, net.attentionScale(config));
    const oldValues = cached(`layer.${layer}.value`, value);
    const gathered = op.add(op.matmul(part(weights, 'time', 0, -count), oldValues), product(part(weights, count, -count), value));
    const joined = count === 1 ? gathered : op.transpose(gathered, [0, 2, 1, 3]);
    return net.feedForward(p, config, layer, net.attentionOutput(p, layer, x, op.reshape(joined, ['rows', count, width])));
  };
}

/** A layer with a memory: its state after the token before the first new one is all it needs of the cache. */
function memory(graph: Graph, p: Parameters, positions: Tensor) {
  const count = Number(at(positions.shape, 1));
  const first = count === 1 ? positions : along(positions, 1, 1, 0); // [rows, 1]
  const begun = op.cast(op.greater(first, 0), 'float32');
  const index = op.reshape(op.maximum(op.sub(first, 1), 0), ['rows', 1, 1]);
  return (layer: number, x: Tensor): Tensor => {
    const size = 2 * Number(at(x.shape, 2));
    const cache = graph.input(`cache.layer.${layer}.state`, 'float32', ['rows', 1, 'time', size]);
    const before = op.reshape(node('GatherND', [cache, index], ['rows', 1, size], { batch_dims: 2 }), ['rows', size]);
    const { hidden, states } = lstmSteps(graph, p, layer, x, op.mul(before, begun));
    graph.output(`new.layer.${layer}.state`, op.reshape(states, ['rows', 1, count, size]));
    return hidden;
  };
}

/** Softmax weights of each query over the cached keys and the new ones, side by side: [rows, heads, queries, total]. */
export function attention(query: Tensor, oldKeys: Tensor, newKeys: Tensor, mask: Tensor, scale: number): Tensor {
  // Of one query the runtime's product is fast only where it does not scale.
  const one = query.shape[2] === 1;
  const scaled = one ? op.mul(query, scale) : query;
  const product = (keys: Tensor): Tensor => op.matmul(scaled, keys, { transposeB: true, scale: one ? 1 : scale });
  const old = product(oldKeys);
  const fresh = one && newKeys.shape[2] === 1 ? op.reduceSum(op.mul(scaled, newKeys), [3], true) : product(newKeys);
  return op.softmax(op.add(node('Concat', [old, fresh], old.shape.with(3, 'total'), { axis: 3 }), mask));
}

/** Weights times values; for a single new token a plain product is cheaper. */
export function product(weights: Tensor, values: Tensor): Tensor {
  return weights.shape[3] === 1 ? op.mul(weights, values) : op.matmul(weights, values);
}

/** The part of the last axis from `start` (counted from the end where negative) to `end`, whose size has a name. */
export function part(x: Tensor, size: number | string, start: number, end = 2 ** 31): Tensor {
  return node('Slice', [x], x.shape.with(3, size), { axis: 3, start, end });
}

/** `size` places of an axis from `start` on. */
function along(x: Tensor, axis: number, size: number, start: number): Tensor {
  return node('Slice', [x], x.shape.with(axis, size), { axis, start, end: start + size });
}

/** [rows, count, width] and one index per row give [rows, width]. */
export function pickRow(x: Tensor, index: Tensor): Tensor {
  return node('GatherND', [x, index], [at(x.shape, 0), at(x.shape, 2)], { batch_dims: 1 });
}

export function node(name: string, inputs: readonly [Tensor, ...Tensor[]], shape: Shape, attributes: Record<string, number>): Tensor {
  const [output] = inputs[0].graph.node(name, inputs, [{ shape, dtype: inputs[0].dtype }], attributes);
  if (!output) throw new Error(`${name} gave no output`);
  return output;
}
