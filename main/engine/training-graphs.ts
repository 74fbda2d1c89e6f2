// The graphs of a training step: forward and backward with the gradients as results, or everything up to the next weights
// (for devices, where the state stays), the sum over micro-batches, and reading state back.

import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import { gradients } from './gradients.ts';
import * as op from './operators.ts';
import { adamW, globalNorm } from './optimizer.ts';
import type { AdamWSettings, Vectors } from './optimizer.ts';
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

/** Forward and backward; the gradients are results `gradient.decay` and `gradient.plain`. */
export function gradientGraph(batch: Named, layout: ParameterLayout): StepGraph {
  const graph = new Graph(`gradient ${batch.key}`);
  const { objective, packed } = differentiated(graph, batch, layout);
  for (const [group, gradient] of packed) graph.output(`gradient.${group}`, gradient);
  return { graph, metrics: report(graph, objective, graph.scalar(0)) };
}

/** Forward and backward; the gradients are added to `sum`, or replace it where `fresh` is 1. */
export function sumGraph(batch: Named, layout: ParameterLayout): StepGraph {
  const graph = new Graph(`sum ${batch.key}`);
  const { objective, packed } = differentiated(graph, batch, layout);
  const sums = layout.inputs(graph, 'sum');
  const fresh = op.greater(graph.input('fresh', 'float32', []), 0.5);
  const before = (group: Group): Tensor => op.where(fresh, 0, lookupGroup(sums, group));
  outputs(graph, 'sum', new Map([...packed].map(([group, gradient]) => [group, op.add(before(group), gradient)])));
  return { graph, metrics: report(graph, objective, graph.scalar(0)) };
}

/** Clipping and AdamW on the summed gradients. */
export function applyGraph(layout: ParameterLayout, settings: AdamWSettings): StepGraph {
  const graph = new Graph('apply');
  const state = { values: layout.inputs(graph, 'values'), first: layout.inputs(graph, 'first'), second: layout.inputs(graph, 'second') };
  const sums = layout.inputs(graph, 'sum');
  const loss = graph.input('loss', 'float32', []);
  const norm = globalNorm(sums);
  const next = adamW(graph, state, sums, norm, op.both(op.isFinite(loss), op.isFinite(norm)), settings);
  outputs(graph, 'values', next.values);
  outputs(graph, 'first', next.first);
  outputs(graph, 'second', next.second);
  return { graph, metrics: report(graph, { loss }, norm) };
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
  const parameters = layout.unpack(values);
  const objective = batch.build(graph, (name) => lookup(parameters, name));
  const { loss, lossScale } = objective;
  const found = gradients(lossScale ? op.mul(loss, lossScale) : loss, [...parameters.values()]);
  const byName = new Map([...parameters.keys()].flatMap((name, i) => (found[i] ? [[name, found[i]] as const] : [])));
  const packed = graph.scope('pack', () => layout.pack(byName));
  return {
    values,
    objective,
    packed: lossScale ? new Map([...packed].map(([group, gradient]) => [group, op.div(gradient, lossScale)])) : packed,
  };
}

/** All numbers of a step in one vector: loss, norm, metrics. */
function report(graph: Graph, { loss, metrics = {} }: LossAndMetrics, norm: Tensor): readonly string[] {
  const parts = [loss, norm, ...Object.values(metrics)].map((scalar) => op.reshape(scalar, [1]));
  graph.output(
    'report',
    graph.scope('report', () => op.concat(parts, 0)),
  );
  return Object.keys(metrics);
}

function outputs(graph: Graph, kind: string, vectors: Vectors): void {
  for (const [group, vector] of vectors) graph.output(`next.${kind}.${group}`, vector);
}

function lookupGroup(vectors: Vectors, group: Group): Tensor {
  const vector = vectors.get(group);
  if (!vector) throw new Error(`There is no vector "${group}"`);
  return vector;
}
