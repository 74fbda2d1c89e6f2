// A language model that writes: one token per row, on top of the keys and values of all earlier ones. A token takes hundreds of short operators, and each costs microseconds beside its
// work, so this graph has as few as the runtime allows: rows are plain matrices, products of the same rows are one, sums are added inside the operator that comes next.
// The same inputs as `readingGraph`, and `split`, the numbers of old and new places; all new keys and values come as one result, `new`.

import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import { attention, node, product } from '../sampling/sampling-graph.ts';
import { layerName } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';
import { SIBLINGS } from './joined.ts';
import { rotaryTables } from './network.ts';

/** What the network is made of where it writes. */
export interface WritingParts {
  weight(name: string): Tensor;
  embed(tokens: Tensor): Tensor;
  /** Rows times each of these matrices (names without `.weight`): [rows, …], side by side where they are one. */
  products(names: readonly string[], x: Tensor): readonly { readonly names: readonly string[]; readonly y: Tensor }[];
  /** Rows [n, width] to logits [n, vocabulary]. */
  head(x: Tensor): Tensor;
}

const [PROJECTIONS, OUTPUT, GATES, DOWN] = SIBLINGS;

export function writingGraph(config: LanguageModelConfig, contextLength: number, graph: Graph, parts: WritingParts): Graph {
  const { width, epsilon } = config;
  const attend = attending(graph, parts, config, contextLength);
  const only = (layer: number, [name]: readonly [string], x: Tensor): Tensor => {
    const [made] = parts.products([layerName(layer, name)], x);
    if (!made) throw new Error(`No product with ${name} was made`);
    return made.y;
  };
  let x = op.reshape(parts.embed(graph.input('tokens', 'int32', ['rows', 1])), ['rows', width]);
  let more: Tensor | undefined;
  const fresh: Tensor[] = [];
  /** x with what the part before has to add, normalised. */
  const normalised = (gain: string): Tensor => {
    if (!more) return op.rmsNorm(x, parts.weight(gain), epsilon);
    const sum = addNormalised(x, more, parts.weight(gain), epsilon);
    x = sum.x;
    return sum.normal;
  };
  for (let layer = 0; layer < config.layers; layer++) {
    graph.scope(`layer.${layer}`, () => {
      const { gathered, key, value } = attend(layer, normalised(layerName(layer, 'input_layernorm.weight')));
      fresh.push(key, value);
      more = only(layer, OUTPUT, gathered);
      const normal = normalised(layerName(layer, 'post_attention_layernorm.weight'));
      const [gate = normal, up = normal] = apart(parts, layer, GATES, normal, () => config.feedForward);
      more = only(layer, DOWN, op.mul(op.silu(gate), up));
    });
  }
  graph.output('logits', parts.head(normalised('model.norm.weight')));
  graph.output('new', op.concat(fresh, 1));
  return graph;
}

/** Products of the same rows, each by itself. */
function apart(parts: WritingParts, layer: number, names: readonly string[], x: Tensor, size: (name: string) => number): Tensor[] {
  const wanted = names.map((name) => layerName(layer, name));
  const found = new Map<string, Tensor>();
  for (const { names: joined, y } of parts.products(wanted, x))
    for (const [i, one] of op.split(y, joined.map(size), y.rank - 1).entries()) found.set(joined[i] ?? '', one);
  return wanted.flatMap((name) => found.get(name) ?? []);
}

/** x + more, and the same normalised: one operator. */
function addNormalised(x: Tensor, more: Tensor, gain: Tensor, epsilon: number): { x: Tensor; normal: Tensor } {
  const like = { shape: x.shape, dtype: x.dtype };
  const [normal, sum] = x.graph.node('AddRMSNorm', [x, more, gain], [like, like], { epsilon });
  if (!normal || !sum) throw new Error('AddRMSNorm gave no output');
  return { x: sum, normal };
}

/** Attention of one new token per row to itself and to those before it; each key-value head serves a group of queries. */
function attending(graph: Graph, parts: WritingParts, config: LanguageModelConfig, contextLength: number) {
  const { heads, keyValueHeads, headSize } = config;
  const group = heads / keyValueHeads;
  const positions = graph.input('positions', 'int64', ['rows', 1]);
  const mask = graph.input('mask', 'float32', ['rows', 1, 1, 'total']);
  const sizes = graph.input('split', 'int64', [2]);
  const { cosine, sine } = rotaryTables(graph, config, contextLength);
  const turned = (x: Tensor): Tensor => node('Rotary', [x, positions, cosine, sine], x.shape, {});
  const headsIn = (name: string): number => (name.endsWith('q_proj') ? heads : keyValueHeads);
  const cached = (name: string): Tensor => graph.input(`cache.${name}`, 'float32', ['rows', keyValueHeads, 'time', headSize]);

  return (layer: number, x: Tensor): { gathered: Tensor; key: Tensor; value: Tensor } => {
    const found = new Map<string, Tensor>();
    const names = PROJECTIONS.map((part) => layerName(layer, part));
    for (const { names: those, y } of parts.products(names, x)) {
      const counts = those.map(headsIn);
      const all = op.reshape(y, ['rows', counts.reduce((a, b) => a + b, 0), 1, headSize]);
      for (const [i, one] of op.split(all, counts, 1).entries()) found.set(those[i] ?? '', one);
    }
    const headsOf = (part: 'q' | 'k' | 'v'): Tensor => {
      const rows = found.get(layerName(layer, `self_attn.${part}_proj`));
      if (!rows) throw new Error(`No product with ${part}_proj was made`);
      if (part === 'v') return rows;
      const gain = config.headNorm && parts.weight(layerName(layer, `self_attn.${part}_norm.weight`));
      return turned(gain ? op.rmsNorm(rows, gain, config.epsilon) : rows);
    };
    const [key, value] = [headsOf('k'), headsOf('v')];
    const query = op.reshape(headsOf('q'), ['rows', keyValueHeads, group, headSize]);
    const weights = attention(query, cached(`layer.${layer}.key`), key, mask, 1 / Math.sqrt(headSize));
    const of = (size: number | string) => ({ shape: weights.shape.with(3, size), dtype: weights.dtype });
    const [before, now] = graph.node('SplitAt', [weights, sizes], [of('time'), of(1)], { axis: 3 });
    if (!before || !now) throw new Error('SplitAt gave no output');
    const gathered = op.add(op.matmul(before, cached(`layer.${layer}.value`)), product(now, value));
    return { gathered: op.reshape(gathered, ['rows', heads * headSize]), key, value };
  };
}
