// The graphs of a training step: forward and backward with the gradients as results, or everything up to the next weights
// (for devices, where the state stays), the sum over micro-batches, and reading state back.

import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import { gradients } from './gradients.ts';
import type { Target } from './onnx.ts';
import * as op from './operators.ts';
import { adamW, globalNorm } from '../runtime/optimizer.ts';
import type { AdamWSettings, Vectors } from '../runtime/optimizer.ts';
import { lookup } from './parameters.ts';
import type { Group, ParameterLayout, Parameters } from './parameters.ts';

/** What is minimised, and scalars to be reported beside it. */
export interface LossAndMetrics {
  readonly loss: Tensor;
  readonly metrics?: Readonly<Record<string, Tensor>>;
  /** A scalar by which the loss is multiplied while gradients are computed, and they divided after: keeps small ones within half precision. */
  readonly lossScale?: Tensor;
}

export type Build = (graph: Graph, parameters: Parameters) => LossAndMetrics;

/** A graph and the names of the metrics in its report. */
export interface StepGraph {
  readonly graph: Graph;
  readonly metrics: readonly string[];
}

interface Named {
  readonly key: string;
  readonly build: Build;
}

/** Forward, backward, clipping and AdamW in one graph. */
export function stepGraph(batch: Named, layout: ParameterLayout, settings: AdamWSettings): StepGraph {
  const graph = new Graph(`step ${batch.key}`);
  const { values, objective, packed } = differentiated(graph, batch, layout);
  const norm = graph.scope('norm', () => globalNorm(packed));
  const state = { values, first: layout.inputs(graph, 'first'), second: layout.inputs(graph, 'second') };
  const next = adamW(graph, state, packed, norm, op.both(op.isFinite(objective.loss), op.isFinite(norm)), settings);
  outputs(graph, 'values', next.values);
  outputs(graph, 'first', next.first);
  outputs(graph, 'second', next.second);
  return { graph, metrics: report(graph, objective, norm) };
}

/** From so many parameters on, cutting the vectors into matrices and packing gradients takes longer than naming each. */
const MANY = 2 ** 18;
export const takesApart = ({ count }: ParameterLayout, target: Target = 'cpu'): boolean => target === 'cpu' && count >= MANY;

/**
 * Forward and backward. Small models and devices: weights are the inputs `values.decay` and `values.plain`, gradients the results `gradient.decay` and `gradient.plain`. Others:
 * every parameter is an input, and its gradient a result, which is written where it belongs in the long vector; cutting and packing would take two more vectors
 * and the time to fill them. Where the report has the norm, it has 0.
 */
export function gradientGraph(batch: Named, layout: ParameterLayout, apart = takesApart(layout)): StepGraph {
  const graph = new Graph(`gradient ${batch.key}`);
  if (!apart) {
    const { objective, packed } = differentiated(graph, batch, layout);
    for (const [group, gradient] of packed) graph.output(`gradient.${group}`, gradient);
    return { graph, metrics: report(graph, objective, graph.scalar(0)) };
  }
  const { objective, found: scaled } = backwards(graph, batch, layout.inputsApart(graph, 'values'));
  const found = unscaled(scaled, objective);
  for (const [name, gradient] of found) graph.output(`gradient.${name}`, gradient);
  // The order of the nodes decides how much memory is needed (see `pack`), and these are at the end of it.
  for (const [group, numbers] of graph.scope('order', () => layout.touch(found))) graph.output(`order.${group}`, numbers);
  return { graph, metrics: report(graph, objective, graph.scalar(0)) };
}

/**
 * Forward and backward; the gradients are added to `sum`, or replace it where `fresh` is 1, and the report to `reports`. Nothing comes
 * back, so the host need not wait for it.
 */
export function sumGraph(batch: Named, layout: ParameterLayout): StepGraph {
  const graph = new Graph(`sum ${batch.key}`);
  const { objective, packed } = differentiated(graph, batch, layout);
  const sums = layout.inputs(graph, 'sum');
  const fresh = op.greater(graph.input('fresh', 'float32', []), 0.5);
  const added = (before: Tensor, more: Tensor): Tensor => op.add(op.where(fresh, 0, before), more);
  outputs(graph, 'sum', new Map([...packed].map(([group, gradient]) => [group, added(lookupGroup(sums, group), gradient)])));
  const numbers = reportOf(graph, objective, graph.scalar(0));
  graph.output('next.reports', added(graph.input('reports', 'float32', numbers.shape), numbers));
  return { graph, metrics: Object.keys(objective.metrics ?? {}) };
}

/** Clipping and AdamW on the summed gradients; the summed report of so many numbers comes back with the norm. */
export function applyGraph(layout: ParameterLayout, settings: AdamWSettings, length: number): StepGraph {
  const graph = new Graph(`apply ${length}`);
  const state = { values: layout.inputs(graph, 'values'), first: layout.inputs(graph, 'first'), second: layout.inputs(graph, 'second') };
  const sums = layout.inputs(graph, 'sum');
  const reports = graph.input('reports', 'float32', [length]);
  const loss = op.slice(reports, 0, 0, 1);
  const norm = globalNorm(sums);
  const next = adamW(graph, state, sums, norm, op.both(op.isFinite(op.reshape(loss, [])), op.isFinite(norm)), settings);
  outputs(graph, 'values', next.values);
  outputs(graph, 'first', next.first);
  outputs(graph, 'second', next.second);
  const rest = length > 2 ? [op.slice(reports, 0, 2, length)] : [];
  graph.output('report', op.concat([loss, op.reshape(norm, [1]), ...rest], 0));
  return { graph, metrics: [] };
}

/** A report that was summed on the device. */
export function reportsGraph(length: number): StepGraph {
  const graph = new Graph(`read reports ${length}`);
  graph.output('report', op.stopGradient(graph.input('reports', 'float32', [length])));
  return { graph, metrics: [] };
}

export function readGraph(layout: ParameterLayout, kind: string): StepGraph {
  const graph = new Graph(`read ${kind}`);
  for (const [group, vector] of layout.inputs(graph, kind)) graph.output(`read.${group}`, vector);
  return { graph, metrics: [] };
}

function differentiated(
  graph: Graph,
  batch: Pick<Named, 'build'>,
  layout: ParameterLayout,
): { values: Vectors; objective: LossAndMetrics; packed: Vectors } {
  const values = layout.inputs(graph, 'values');
  const { objective, found } = backwards(graph, batch, layout.unpack(values));
  return {
    values,
    objective,
    packed: unscaled(
      graph.scope('pack', () => layout.pack(found)),
      objective,
    ),
  };
}

/** The loss and its gradient by every parameter; where there is a loss scale, still multiplied with it. */
function backwards(
  graph: Graph,
  batch: Pick<Named, 'build'>,
  parameters: ReadonlyMap<string, Tensor>,
): { objective: LossAndMetrics; found: ReadonlyMap<string, Tensor> } {
  const objective = batch.build(graph, (name) => lookup(parameters, name));
  const { loss, lossScale } = objective;
  const found = gradients(lossScale ? op.mul(loss, lossScale) : loss, [...parameters.values()]);
  return { objective, found: new Map([...parameters.keys()].flatMap((name, i) => (found[i] ? [[name, found[i]] as const] : []))) };
}

const unscaled = <Key>(found: ReadonlyMap<Key, Tensor>, { lossScale }: LossAndMetrics): ReadonlyMap<Key, Tensor> =>
  lossScale ? new Map([...found].map(([key, gradient]) => [key, op.div(gradient, lossScale)])) : found;

function report(graph: Graph, objective: LossAndMetrics, norm: Tensor): readonly string[] {
  graph.output('report', reportOf(graph, objective, norm));
  return Object.keys(objective.metrics ?? {});
}

/** All numbers of a step in one vector: loss, norm, metrics. */
function reportOf(graph: Graph, { loss, metrics = {} }: LossAndMetrics, norm: Tensor): Tensor {
  const parts = [loss, norm, ...Object.values(metrics)].map((scalar) => op.reshape(scalar, [1]));
  return graph.scope('report', () => op.concat(parts, 0));
}

function outputs(graph: Graph, kind: string, vectors: Vectors): void {
  for (const [group, vector] of vectors) graph.output(`next.${kind}.${group}`, vector);
}

function lookupGroup(vectors: Vectors, group: Group): Tensor {
  const vector = vectors.get(group);
  if (!vector) throw new Error(`There is no vector "${group}"`);
  return vector;
}
