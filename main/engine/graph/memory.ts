// How much memory a graph will need, worked out before anything is allocated. It has to be known beforehand: inside Electron an
// allocation that fails ends the process at once, so there would be nobody left to say which tensors were too large.

import { BYTES_PER_ELEMENT, elementCount, showShape } from './graph.ts';
import type { Graph, Tensor } from './graph.ts';
import { liveNodes } from './onnx.ts';

/** Operators whose result shares its input's memory. */
const SHARING = new Set(['Reshape', 'StopGradient']);

/** Sizes by name that are only known at run time. */
export type Sizes = Readonly<Record<string, number>>;

/** 0 for what is only known at run time and not given, and for what is mapped from a file. */
function bytesOf(tensor: Tensor, sizes: Sizes = {}): number {
  if (tensor.external) return 0;
  const shape = tensor.shape.map((size) => (typeof size === 'number' ? size : (sizes[size] ?? 0)));
  return elementCount(shape) * BYTES_PER_ELEMENT[tensor.dtype];
}

/** The largest sum of tensors alive at once when the nodes run in order: inputs (unless they are the caller's), constants and what is still to be read. */
export function peakBytes(graph: Graph, sizes: Sizes = {}, withInputs = true): number {
  const nodes = liveNodes(graph);
  const owner = new Map<Tensor, Tensor>();
  const ownerOf = (tensor: Tensor): Tensor => owner.get(tensor) ?? tensor;
  const lastUse = new Map<Tensor, number>();
  for (const [at, node] of nodes.entries()) {
    const [source] = node.inputs;
    for (const output of node.outputs) if (SHARING.has(node.op) && source) owner.set(output, ownerOf(source));
    for (const tensor of [...node.inputs, ...node.outputs]) lastUse.set(ownerOf(tensor), at);
  }
  for (const tensor of [...graph.outputs.values(), ...graph.inputs.values()]) lastUse.set(ownerOf(tensor), nodes.length);

  let current = [...(withInputs ? graph.inputs.values() : []), ...graph.constants].reduce((sum, tensor) => sum + bytesOf(tensor, sizes), 0);
  let peak = current;
  for (const [at, node] of nodes.entries()) {
    for (const output of node.outputs) if (!owner.has(output)) current += bytesOf(output, sizes);
    peak = Math.max(peak, current);
    const done = new Set([...node.inputs, ...node.outputs].map(ownerOf));
    for (const tensor of done) if (tensor.node && lastUse.get(tensor) === at) current -= bytesOf(tensor, sizes);
  }
  return peak;
}

/** The largest tensors, in words. */
export function largestTensors(graph: Graph, count = 4): string {
  const tensors = [...graph.inputs.values(), ...liveNodes(graph).flatMap((node) => (SHARING.has(node.op) ? [] : node.outputs))];
  return tensors
    .toSorted((a, b) => bytesOf(b) - bytesOf(a))
    .slice(0, count)
    .map((tensor) => `"${tensor.name}" ${showShape(tensor.shape)} ${megabytes(bytesOf(tensor))}`)
    .join(', ');
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}
