// Products of a language model that writes: rows [rows, in] with matrices as they lie in their files. Those of few bits are multiplied in blocks, approximately: one token at a time is
// bound by memory, where more at once are worth unpacking them for. Neighbours are one product (joined.ts), a bias is added inside it, and the adapter's share as well.

import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import type { Parameters } from '../../engine/graph/parameters.ts';
import { at } from '../../base/indexed.ts';
import { node } from '../sampling/sampling-graph.ts';
import { loraSpecs } from './adapter.ts';
import { joinedWeight, neighbours, outputSizes } from './joined.ts';
import type { JoinedWeight } from './joined.ts';
import type { ModelParts } from './network.ts';
import { headName, unpacked, weightShapes } from './parts.ts';
import type { PartsOptions } from './parts.ts';
import { BLOCK } from './files/quantise.ts';
import type { WritingParts } from './writing-graph.ts';

export function writingParts({
  config,
  weights,
  trained,
}: PartsOptions): (graph: Graph, parameters: Parameters, parts: ModelParts) => WritingParts {
  const shapes = weightShapes(config);
  const lora = typeof trained === 'string' ? undefined : trained;
  const adapter = new Set(lora ? loraSpecs(config, lora).map(({ name }) => name) : []);
  const sizeOf = outputSizes(config);
  return (graph, parameters, parts) => {
    /** Biases side by side. */
    const biasOf = (names: readonly string[]): Tensor | undefined => {
      const biases = names.map((name) => `${name}.bias`);
      if (!biases.some((name) => shapes.has(name))) return undefined;
      if (trained === 'all' || neighbours(weights, biases).length > 1)
        return op.concat(
          biases.map((name) => parts.weight(name)),
          0,
        );
      const length = names.reduce((sum, name) => sum + sizeOf(name), 0);
      return unpacked(graph, biases.join('+'), [length], joinedWeight(weights, biases));
    };
    const times = (x: Tensor, names: readonly string[], bias?: Tensor): Tensor => {
      const [name = ''] = names;
      const [, width = 0] = shapes.get(name) ?? [];
      const rows = names.reduce((sum, one) => sum + (shapes.get(one)?.[0] ?? 0), 0);
      if (trained === 'all') return affine(x, parameters(name), bias);
      const mapped = joinedWeight(weights, names);
      const label = names.join('+');
      return 'scales' in mapped
        ? blockProduct(x, label, [rows, width], mapped, bias)
        : affine(x, unpacked(graph, label, [rows, width], mapped), bias);
    };
    /** The products of `names` with what the adapter adds to them. */
    const adapted = (names: readonly string[], x: Tensor, y: Tensor): ReturnType<WritingParts['products']> => {
      const low = names.map((name) => `${name}.lora_A`).filter((name) => adapter.has(name));
      if (!lora || low.length === 0) return [{ names, y }];
      const joined = low.join('+');
      const below = low.length === 1 ? parameters(joined) : graph.input(joined, 'float32', [low.length * lora.rank, at(x.shape, 1)]);
      const inner = op.split(
        affine(x, below),
        low.map(() => lora.rank),
        1,
      );
      return op.split(y, names.map(sizeOf), 1).map((part, i) => {
        const name = at(names, i);
        const place = low.indexOf(`${name}.lora_A`);
        if (place < 0) return { names: [name], y: part };
        const attributes = { transB: 1, alpha: lora.alpha / lora.rank };
        return { names: [name], y: node('Gemm', [at(inner, place), parameters(`${name}.lora_B`), part], part.shape, attributes) };
      });
    };
    const products: WritingParts['products'] = (names, x) => {
      const matrices = names.map((name) => `${name}.weight`);
      const groups = trained === 'all' ? matrices.map((name) => [name]) : neighbours(weights, matrices);
      return groups.flatMap((group) => {
        const names = group.map((name) => name.replace(/\.weight$/, ''));
        return adapted(names, x, times(x, group, biasOf(names)));
      });
    };
    return { weight: parts.weight, embed: parts.embed, products, head: (x) => times(x, [headName(config, weights)]) };
  };
}

/** x · Wᵀ (+ bias): one operator. */
function affine(x: Tensor, matrix: Tensor, bias?: Tensor): Tensor {
  if (!bias) return op.matmul(x, matrix, { transposeB: true });
  const [rows = 0] = matrix.shape;
  return node('Gemm', [x, matrix, bias], ['rows', rows], { transB: 1 });
}

/** How precisely the runtime multiplies blocks: 4 rounds the activations to 8 bits, and is the only fast way. */
const ACCURACY_LEVEL = 4;

function blockProduct(x: Tensor, name: string, [rows, width]: readonly [number, number], mapped: JoinedWeight, bias?: Tensor): Tensor {
  const { graph } = x;
  if (!('scales' in mapped)) throw new Error(`The weight ${name} has no scales`);
  const bits = mapped.kind === 'int8' ? 8 : 4;
  const blocks = width / BLOCK;
  const packed = graph.external(`${name} blocks`, 'uint8', [rows, blocks, (BLOCK * bits) / 8], mapped.place);
  const scales = graph.external(`${name} scales`, 'float32', [rows, blocks], mapped.scales);
  const attributes = { K: width, N: rows, bits, block_size: BLOCK, accuracy_level: ACCURACY_LEVEL };
  return node('BlockProduct', [x, packed, scales, ...(bias ? [bias] : [])], ['rows', rows], attributes);
}
