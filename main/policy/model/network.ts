// The forward pass of the Llama family: RMSNorm before each part, rotary positions, grouped queries, a SwiGLU feed-forward, and what
// Qwen adds (biases of the projections, a norm by head). The parts are functions on rows, shared by whole sequences (scoring and
// training, time-major as in the small Transformer) and by sampling. Weights come by name, wherever they lie.

import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import { attention, gated } from '../../engine/graph/fused.ts';
import * as op from '../../engine/graph/operators.ts';
import { layerName } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';

/** What the network is made of in one graph: its weights by name, and products with matrices that may carry an adapter. */
export interface ModelParts {
  weight(name: string): Tensor;
  /** x · Wᵀ (+ bias) of the matrix `name` (without `.weight`), for rows x [..., in]. */
  linear(name: string, x: Tensor): Tensor;
  /** The embeddings of tokens. */
  embed(tokens: Tensor): Tensor;
  /** Rows [n, width] to logits [n, vocabulary]. */
  head(x: Tensor): Tensor;
}

/** Cosine and sine of every position's angles, each [length, head size / 2]. */
export function rotaryTables(graph: Graph, config: LanguageModelConfig, length: number): { cosine: Tensor; sine: Tensor } {
  const half = config.headSize / 2;
  const frequencies = Array.from({ length: half }, (_, i) => scaled(config, config.ropeBase ** (-i / half)));
  const table = (turn: (angle: number) => number): Float32Array =>
    Float32Array.from({ length: length * half }, (_, i) => turn(Math.floor(i / half) * (frequencies[i % half] ?? 0)));
  return {
    cosine: graph.constant(table(Math.cos), [length, half], 'float32', 'rotary.cosine'),
    sine: graph.constant(table(Math.sin), [length, half], 'float32', 'rotary.sine'),
  };
}

function scaled({ ropeScaling }: LanguageModelConfig, frequency: number): number {
  if (ropeScaling.kind === 'none') return frequency;
  if (ropeScaling.kind === 'linear') return frequency / ropeScaling.factor;
  const { factor, lowFrequency, highFrequency, originalLength } = ropeScaling;
  const turns = (originalLength * frequency) / (2 * Math.PI);
  const share = Math.min(1, Math.max(0, (turns - lowFrequency) / (highFrequency - lowFrequency)));
  return frequency * (share + (1 - share) / factor);
}

export interface Projections {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/** Queries, keys and values of normalised rows [..., width], heads side by side, not yet turned by their positions. */
export function projections(parts: ModelParts, config: LanguageModelConfig, layer: number, x: Tensor): Projections {
  const normal = op.rmsNorm(x, parts.weight(layerName(layer, 'input_layernorm.weight')), config.epsilon);
  const project = (part: 'q' | 'k' | 'v'): Tensor => {
    const rows = parts.linear(layerName(layer, `self_attn.${part}_proj`), normal);
    if (!config.headNorm || part === 'v') return rows;
    const heads = part === 'q' ? config.heads : config.keyValueHeads;
    const split = op.reshape(rows, [...rows.shape.slice(0, -1), heads, config.headSize]);
    const gain = parts.weight(layerName(layer, `self_attn.${part}_norm.weight`));
    return op.reshape(op.rmsNorm(split, gain, config.epsilon), rows.shape);
  };
  return { query: project('q'), key: project('k'), value: project('v') };
}

/** x plus what attention has gathered ([..., heads · size]). */
export const attentionOutput = (parts: ModelParts, layer: number, x: Tensor, gathered: Tensor): Tensor =>
  op.add(x, parts.linear(layerName(layer, 'self_attn.o_proj'), gathered));

type Part = (graph: Graph, name: string, inputs: readonly Tensor[], body: (...inputs: Tensor[]) => Tensor) => Tensor;
const again: Part = (graph, name, inputs, body) => graph.recomputed(name, inputs, body);
const inScope: Part = (graph, name, inputs, body) => graph.scope(name, () => body(...inputs));

/** x plus the feed-forward part. `whole`: nothing of it is computed again on its own. */
export function feedForward(parts: ModelParts, config: LanguageModelConfig, layer: number, x: Tensor, whole = false): Tensor {
  const normal = op.rmsNorm(x, parts.weight(layerName(layer, 'post_attention_layernorm.weight')), config.epsilon);
  const [gate, up] = (['gate', 'up'] as const).map((part) => parts.linear(layerName(layer, `mlp.${part}_proj`), normal));
  // What lies between is more than half of a layer's numbers, and computed again in no time: the product itself need not be.
  const down = (open: Tensor, flow: Tensor): Tensor => parts.linear(layerName(layer, 'mlp.down_proj'), gated(open, flow));
  return op.add(x, (whole ? inScope : again)(x.graph, 'down', [gate ?? normal, up ?? normal], down));
}

export const finalNorm = (parts: ModelParts, config: LanguageModelConfig, x: Tensor): Tensor =>
  op.rmsNorm(x, parts.weight('model.norm.weight'), config.epsilon);

/**
 * The final hidden states of sequences int32 [R, T] at the given places int32 [n] of the time-major [T · R]: [n, width]. With `recompute` each
 * layer is computed again for its gradient. After the last attention nobody looks at other places any more, so the rest is computed there alone.
 */
export function hiddenStates(
  graph: Graph,
  parts: ModelParts,
  config: LanguageModelConfig,
  { tokens, places, trees }: SequenceInputs,
  recompute = false,
): Tensor {
  const [rows = 0, time = 0] = tokens.sizes;
  let x = graph.scope('embed', () => parts.embed(op.reshape(op.transpose(tokens, [1, 0]), [time * rows])));
  const attend = causalAttention(graph, config, rows, time, { trees, whole: recompute });
  for (let layer = 0; layer < config.layers; layer++) {
    const wanted = (of: Tensor): Tensor => (layer === config.layers - 1 ? op.gather(of, places) : of);
    const block = (input: Tensor): Tensor => {
      const attended = graph.scope('attention', () => {
        const gathered = attend(projections(parts, config, layer, input));
        return attentionOutput(parts, layer, wanted(input), wanted(gathered));
      });
      return graph.scope('feedForward', () => feedForward(parts, config, layer, attended, recompute));
    };
    const name = `layer.${layer}`;
    x = recompute ? graph.recomputed(name, [x], block) : graph.scope(name, () => block(x));
  }
  return graph.scope('final', () => finalNorm(parts, config, x));
}

/** Sequences int32 [R, T], and the places of the time-major [T · R] that are asked for. */
export interface SequenceInputs {
  readonly tokens: Tensor;
  readonly places: Tensor;
  readonly trees?: TreeInputs;
}

/** Where the sequences stand in trees: how deep each token is [time, rows], and what is added to its scores [rows, 1, time, time]. */
export interface TreeInputs {
  readonly depths: Tensor;
  readonly seen: Tensor;
}

/** Attention of every position over itself and those before it; each key-value head serves a group of queries. */
function causalAttention(
  graph: Graph,
  config: LanguageModelConfig,
  rows: number,
  time: number,
  { trees, whole }: { readonly trees: TreeInputs | undefined; readonly whole: boolean },
): (parts: Projections) => Tensor {
  const { heads, keyValueHeads, headSize } = config;
  const group = heads / keyValueHeads;
  const { cosine, sine } = rotaryTables(graph, config, Math.max(time, rows));
  const positions =
    trees?.depths ??
    graph.constant(
      BigInt64Array.from({ length: time * rows }, (_, i) => BigInt(Math.floor(i / rows))),
      [time, rows],
      'int64',
      'rotary.positions',
    );
  const turned = (x: Tensor, heads: number): Tensor =>
    op.reshape(op.rotary(op.reshape(x, [time, rows, heads * headSize]), positions, cosine, sine, heads), [time, rows, heads, headSize]);
  const shared = (x: Tensor): Tensor => {
    if (group === 1) return x;
    const apart = op.reshape(x, [time, rows, keyValueHeads, 1, headSize]);
    return op.reshape(op.expand(apart, [time, rows, keyValueHeads, group, headSize]), [time, rows, heads, headSize]);
  };
  return ({ query, key, value }) => {
    // Turned, repeated for their groups and cut into blocks, keys and values would be kept several times over.
    const gathered = (whole ? inScope : again)(graph, 'attend', [query, key, value], (q, k, v) => {
      const values = op.reshape(v, [time, rows, keyValueHeads, headSize]);
      return attention(turned(q, heads), shared(turned(k, keyValueHeads)), shared(values), 1 / Math.sqrt(headSize), trees?.seen);
    });
    return op.reshape(gathered, [time * rows, heads * headSize]);
  };
}
