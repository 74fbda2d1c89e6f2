// A language model that reads several tokens per row at once: the small Transformer's `samplingGraph` with the same inputs and outputs, and with queries that share
// key-value heads in groups. Single tokens have a graph of their own (writing-graph.ts).

import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import { attention, node, part, pickRow, product } from '../sampling/sampling-graph.ts';
import type { LanguageModelConfig } from './architecture.ts';
import * as net from './network.ts';
import type { ModelParts } from './network.ts';

export function readingGraph(config: LanguageModelConfig, contextLength: number, graph: Graph, parts: ModelParts, count: number): Graph {
  const { heads, keyValueHeads, headSize } = config;
  const group = heads / keyValueHeads;
  const positions = graph.input('positions', 'int64', ['rows', count]);
  const mask = graph.input('mask', 'float32', ['rows', 1, count, 'total']);
  // Each key-value head sees the queries of its group one after the other, so the mask is repeated for them.
  const masks = group === 1 ? mask : node('Concat', many(mask, group), mask.shape.with(2, group * count), { axis: 2 });
  const { cosine, sine } = net.rotaryTables(graph, config, contextLength);
  const split = (x: Tensor, heads: number): Tensor => op.transpose(op.reshape(x, ['rows', count, heads, headSize]), [0, 2, 1, 3]);
  const grouped = (x: Tensor): Tensor => op.reshape(split(x, heads), ['rows', keyValueHeads, group * count, headSize]);
  const joined = (x: Tensor): Tensor =>
    op.reshape(op.transpose(op.reshape(x, ['rows', heads, count, headSize]), [0, 2, 1, 3]), ['rows', count, heads * headSize]);
  const cached = (name: string, like: Tensor): Tensor => {
    graph.output(`new.${name}`, like);
    return graph.input(`cache.${name}`, 'float32', ['rows', keyValueHeads, 'time', headSize]);
  };
  let x = parts.embed(graph.input('tokens', 'int32', ['rows', count]));
  for (let layer = 0; layer < config.layers; layer++) {
    graph.scope(`layer.${layer}`, () => {
      const projected = net.projections(parts, config, layer, x);
      const query = grouped(op.rotary(projected.query, positions, cosine, sine, heads));
      const key = split(op.rotary(projected.key, positions, cosine, sine, keyValueHeads), keyValueHeads);
      const value = split(projected.value, keyValueHeads);
      const weights = attention(query, cached(`layer.${layer}.key`, key), key, masks, 1 / Math.sqrt(headSize));
      const oldValues = cached(`layer.${layer}.value`, value);
      const gathered = op.add(op.matmul(part(weights, 'time', 0, -count), oldValues), product(part(weights, count, -count), value));
      x = net.attentionOutput(parts, layer, x, joined(gathered));
      x = net.feedForward(parts, config, layer, x);
    });
  }
  const hidden = net.finalNorm(parts, config, x);
  graph.output('logits', parts.head(pickRow(hidden, graph.input('last', 'int64', ['rows', 1]))));
  return graph;
}

const many = (tensor: Tensor, count: number): [Tensor, ...Tensor[]] => [tensor, ...Array.from({ length: count - 1 }, () => tensor)];
