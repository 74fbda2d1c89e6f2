// A language model for writing on a device: the small Transformer's device-graph.ts with queries that share key-value heads in groups. Keys,
// values, masks and the draw stay there; a call brings back the drawn token and a few numbers about it.

import { Graph, type Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import { CacheWriter, type DeviceStream, counting, draw, newTokens, node, pickLast, wide } from '../gpu/device-graph.ts';
import type { LanguageModelConfig } from './architecture.ts';
import * as net from './network.ts';
import type { ModelParts } from './network.ts';

const NEVER = -1e9;

export const modelStreams = ({ layers, keyValueHeads, headSize }: LanguageModelConfig): readonly DeviceStream[] =>
  Array.from({ length: layers }, (_, layer): DeviceStream[] => [
    { name: `layer.${layer}.key`, dtype: 'float32', shape: ['rows', keyValueHeads, headSize, 'time'] },
    { name: `layer.${layer}.value`, dtype: 'float32', shape: ['rows', keyValueHeads, 'time', headSize] },
  ]).flat();

/** Reads `count` tokens per row and draws the next: the inputs of `deviceSamplingGraph`. */
export function modelDeviceGraph(
  config: LanguageModelConfig,
  contextLength: number,
  count: number,
  partsOf: (graph: Graph) => ModelParts,
): Graph {
  const graph = new Graph(`play ${count}`);
  const parts = partsOf(graph);
  const { heads, keyValueHeads, headSize } = config;
  const group = heads / keyValueHeads;
  const { tokens, place, last } = newTokens(graph, count, 0, config.vocabulary);
  const places = op.add(place, counting(graph, count)); // [rows, count]
  const positions = wide(places, count, contextLength);
  const cache = new CacheWriter(graph, modelStreams(config), places, count);
  const times = graph.input('times', 'int32', ['time']);
  // Each key-value head sees the queries of its group one after the other, so their places are repeated.
  const repeated = op.reshape(repeatColumns(places, count, group), ['rows', 1, group * count, 1]);
  const ahead = op.greater(times, repeated);
  const { cosine, sine } = net.rotaryTables(graph, config, contextLength);
  const split = (x: Tensor, heads: number, order: readonly number[]): Tensor =>
    op.transpose(op.reshape(x, ['rows', count, heads, headSize]), order);
  let x = parts.embed(tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    graph.scope(`layer.${layer}`, () => {
      const projected = net.projections(parts, config, layer, x);
      const turned = split(op.rotary(projected.query, positions, cosine, sine, heads), heads, [0, 2, 1, 3]);
      const query = op.reshape(turned, ['rows', keyValueHeads, group * count, headSize]);
      const fresh = split(op.rotary(projected.key, positions, cosine, sine, keyValueHeads), keyValueHeads, [0, 2, 3, 1]);
      const keys = cache.write(`layer.${layer}.key`, fresh);
      const values = cache.write(`layer.${layer}.value`, split(projected.value, keyValueHeads, [0, 2, 1, 3]));
      const scores = op.matmul(op.mul(query, 1 / Math.sqrt(headSize)), keys);
      const gathered = op.matmul(op.softmax(op.where(ahead, NEVER, scores)), values); // [rows, key-value heads, group · count, size]
      const apart = op.transpose(op.reshape(gathered, ['rows', heads, count, headSize]), [0, 2, 1, 3]);
      x = net.attentionOutput(parts, layer, x, op.reshape(apart, ['rows', count, heads * headSize]));
      x = net.feedForward(parts, config, layer, x);
    });
  }
  const final = graph.scope('last', () => pickLast(net.finalNorm(parts, config, x), last));
  graph.output(
    'drawn',
    graph.scope('draw', () => draw(graph, parts.head(final))),
  );
  return graph;
}

/** [rows, count] so many times side by side. */
function repeatColumns(x: Tensor, count: number, times: number): Tensor {
  if (times === 1) return x;
  const indices = x.graph.constant(
    Int32Array.from({ length: times * count }, (_, i) => i % count),
    [times * count],
    'int32',
    'repeated',
  );
  return node('Gather', [x, indices], ['rows', times * count], x.dtype, { axis: 1 });
}
