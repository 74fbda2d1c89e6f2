// The weights of a language model in a graph, wherever and however they are kept, and the products with them: for scoring, training, reading several tokens at once,
// and devices. Writing single tokens has products of its own (writing-parts.ts).

import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import type { Parameters } from '../../engine/graph/parameters.ts';
import { node } from '../sampling/sampling-graph.ts';
import { loraSpecs } from './adapter.ts';
import type { LoraShape } from './adapter.ts';
import { weightSpecs } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';
import { weightInput } from './device-weights.ts';
import type { JoinedWeight } from './joined.ts';
import { EMBEDDING, HEAD } from './files/mapped-weights.ts';
import type { MappedWeight, MappedWeights } from './files/mapped-weights.ts';
import type { ModelParts } from './network.ts';
import { BLOCK } from './files/quantise.ts';

export interface PartsOptions {
  readonly config: LanguageModelConfig;
  readonly weights: MappedWeights;
  readonly trained: LoraShape | 'all' | 'none';
}

/** By name; tied models have the head's as well. */
export function weightShapes(config: LanguageModelConfig): ReadonlyMap<string, readonly number[]> {
  const shapes = new Map(weightSpecs(config).map(({ name, shape }) => [name, shape]));
  const embedding = shapes.get(EMBEDDING);
  if (embedding && !shapes.has(HEAD)) shapes.set(HEAD, embedding);
  return shapes;
}

/** The matrix of the product with the vocabulary. */
export const headName = ({ tied }: LanguageModelConfig, weights: MappedWeights): string => (weights.has(HEAD) || !tied ? HEAD : EMBEDDING);

/** How the weights and products of a graph are made; on a device the weights are inputs. */
export function partsMaker({
  config,
  weights,
  trained,
}: PartsOptions): (graph: Graph, parameters: Parameters, how?: { readonly device?: boolean }) => ModelParts {
  const shapes = weightShapes(config);
  const lora = typeof trained === 'string' ? undefined : trained;
  const adapted = new Set(lora ? loraSpecs(config, lora).map(({ name }) => name) : []);
  return (graph, parameters, { device = false } = {}) => {
    const find = (name: string): { shape: readonly number[]; mapped: MappedWeight } => {
      const [shape, mapped] = [shapes.get(name), weights.get(name)];
      if (!shape || !mapped) throw new Error(`The model has no weight ${name}`);
      return { shape, mapped };
    };
    const weight = (name: string): Tensor => {
      if (trained === 'all') return parameters(name);
      const { shape, mapped } = find(name);
      return device ? weightInput(graph, name, shape) : unpacked(graph, name, shape, mapped);
    };
    const linear = (name: string, x: Tensor): Tensor => {
      let y = op.matmul(x, weight(`${name}.weight`), { transposeB: true });
      if (shapes.has(`${name}.bias`)) y = op.add(y, weight(`${name}.bias`));
      if (!lora || !adapted.has(`${name}.lora_A`)) return y;
      const low = op.matmul(x, parameters(`${name}.lora_A`), { transposeB: true });
      return op.add(y, op.matmul(low, parameters(`${name}.lora_B`), { transposeB: true, scale: lora.alpha / lora.rank }));
    };
    const embed = (tokens: Tensor): Tensor => {
      const name = EMBEDDING;
      if (trained === 'all') return op.gather(parameters(name), tokens);
      const { shape, mapped } = find(name);
      // Rows are unpacked after they were chosen.
      if (mapped.kind !== 'f16' || device) return op.gather(weight(name), tokens);
      return op.cast(op.gather(graph.external(`${name} f16`, 'float16', shape, mapped.place), tokens), 'float32');
    };
    const head = (x: Tensor): Tensor => op.matmul(x, weight(headName(config, weights)), { transposeB: true });
    return { weight, linear, embed, head };
  };
}

/** A weight as float32, whatever it is in its file. */
export function unpacked(graph: Graph, name: string, shape: readonly number[], mapped: MappedWeight | JoinedWeight): Tensor {
  if (mapped.kind === 'f32') return graph.external(name, 'float32', shape, mapped.place);
  if (mapped.kind === 'f16') return op.cast(graph.external(`${name} f16`, 'float16', shape, mapped.place), 'float32');
  if (!('zeros' in mapped)) throw new Error(`The weight ${name} has no scales or no zero points`);
  const type = mapped.kind === 'int8' ? 'uint8' : 'uint4';
  const blocks = [shape[0] ?? 0, (shape[1] ?? 0) / BLOCK];
  const inputs = [
    graph.external(`${name} ${type}`, type, shape, mapped.place),
    graph.external(`${name} scales`, 'float32', blocks, mapped.scales),
    graph.external(`${name} zeros`, type, blocks, mapped.zeros),
  ] as const;
  return node('DequantizeLinear', [...inputs], shape, { axis: 1, block_size: BLOCK });
}
