// A model on paper of what a graph costs on a graphics card: kernels, arithmetic and bytes are counted in the graph as it is written for a
// device; a card turns them into time by four numbers. docs/GPU.md states the assumptions and the table.

import { fromBinary } from '@bufbuild/protobuf';
import { BYTES_PER_ELEMENT } from '../../main/engine/graph/graph.ts';
import type { Dimension, Graph, Tensor } from '../../main/engine/graph/graph.ts';
import { ModelSchema } from '../../main/engine/graph/onnx-schema.ts';
import { encode, liveNodes } from '../../main/engine/graph/onnx.ts';

export interface Work {
  readonly kernels: number;
  readonly flops: number;
  /** Bytes that kernels read and write on the card. */
  readonly touched: number;
}

export interface Card {
  readonly name: string;
  /** Single-precision arithmetic and memory of the data sheet: per second. */
  readonly flops: number;
  readonly bandwidth: number;
}

export const CARDS: readonly Card[] = [
  { name: 'laptop graphics', flops: 2e12, bandwidth: 60e9 },
  { name: 'RTX 3060', flops: 12.7e12, bandwidth: 360e9 },
  { name: 'RTX 4090', flops: 82.6e12, bandwidth: 1008e9 },
];

/** What is reached of the data sheet, and fixed costs in seconds: assumptions, to be checked on a card. */
export const ASSUMED = { arithmetic: 0.3, memory: 0.6, kernel: 8e-6, call: 150e-6, bus: 6e9 };

/** Operators that move nothing. */
const FREE = new Set(['Reshape', 'Identity']);

/** What a graph costs, with numbers for the sizes that are only known when it runs. */
export function workOf(graph: Graph, sizes: Readonly<Record<string, number>> = {}): Work {
  const size = (dimension: Dimension): number => (typeof dimension === 'number' ? dimension : (sizes[dimension] ?? 1));
  const count = ({ shape }: Tensor): number => shape.reduce<number>((product, dimension) => product * size(dimension), 1);
  const bytes = (tensor: Tensor): number => count(tensor) * BYTES_PER_ELEMENT[tensor.dtype];
  let flops = 0;
  let touched = 0;
  for (const node of liveNodes(graph)) {
    const [a] = node.inputs;
    const [output] = node.outputs;
    if (node.op === 'MatMul' && a && output) {
      const inner = node.attributes.transA === 1 ? a.shape.at(node.attributes.transBatchA === 1 ? 0 : -2) : a.shape.at(-1);
      flops += 2 * count(output) * size(inner ?? 1);
    }
    const [, , rows] = node.inputs;
    if (node.op === 'ScatterElements' && rows) touched += 2 * bytes(rows); // the rest of the buffer stays as it is
    else if (!FREE.has(node.op)) touched += [...node.inputs, ...node.outputs].reduce((sum, tensor) => sum + bytes(tensor), 0);
  }
  const written = fromBinary(ModelSchema, encode(graph, 'gpu')).graph?.node ?? [];
  return { kernels: written.filter(({ opType }) => !FREE.has(opType)).length, flops, touched };
}

/** Seconds of so many calls with this work, when each exchanges so many bytes with the card. */
export function secondsOn(card: Card, { kernels, flops, touched }: Work, calls: number, travelling: number): number {
  const computing = Math.max(flops / (card.flops * ASSUMED.arithmetic), touched / (card.bandwidth * ASSUMED.memory));
  return calls * (ASSUMED.call + kernels * ASSUMED.kernel + computing + travelling / ASSUMED.bus);
}
