// What a policy's network is to the sampler, the scorer and the trainer, whether it is a small Transformer of this lab or a language model:
// its trainable parameters, the tensors of a batch of sequences, and the graph that reads a few tokens on top of a cache.

import type { Json } from '../../base/canonical.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import type { ParameterLayout, Parameters } from '../../engine/graph/parameters.ts';
import type { Feeds, SessionOptions } from '../../engine/runtime/session.ts';
import type { LossAndMetrics, MicroBatch } from '../../engine/runtime/training-step.ts';
import { policyTensors } from './batch.ts';
import type { BatchLayout, BatchShape, LossInput, PolicyOptions, PolicyTensors } from './batch.ts';
import { residentNumbers } from '../gpu/device-batch.ts';
import { deviceSamplingGraph, deviceStreams } from '../gpu/device-graph.ts';
import type { DeviceSampling } from '../gpu/device-graph.ts';
import type { JoinedParameter } from './joined-parameters.ts';
import { cacheStreams, samplingGraph } from '../sampling/sampling-graph.ts';
import type { Stream } from '../sampling/sampling-graph.ts';
import { modelLayout } from './transformer.ts';
import type { ModelConfig } from './transformer.ts';

export interface PolicyNetwork extends BatchLayout {
  readonly aids: ModelConfig['aids'];
  /** What training changes. */
  readonly layout: ParameterLayout;
  /** Names the network: equal descriptions and weights, equal policy. */
  readonly description: Json;
  /** What is cached of every token read. */
  readonly streams: readonly Stream[];
  /** The sampler's log-probabilities deviate from the scorer's by more than rounding: what is learned from must be scored again. */
  readonly approximateSampling?: boolean;
  /** Bytes of the weights that are mapped from files and stay as they are. */
  readonly mappedBytes?: number;
  /** Shapes of batches. Fine: a token costs so much that they are cut to measure rather than padded. Few: a new one costs more than all padding. */
  readonly shapes?: 'fine' | 'few';
  /** What sequences have in common can be computed once for all of them (shared-batch.ts). */
  readonly shares?: boolean;
  /** Most micro-batches computed side by side. Defaults to one per thread; sessions of some networks are expensive. */
  readonly lanes?: number;
  /** Further inputs of sampling graphs, made of parameters. */
  readonly joined?: readonly JoinedParameter[];
  tensors(graph: Graph, parameters: Parameters, shape: BatchShape, options?: PolicyOptions): PolicyTensors & { readonly logits: Tensor };
  /** See `samplingGraph`: reads `count` tokens per row. */
  samplingGraph(count: number, parameters: (graph: Graph) => Parameters): Graph;
  /** How it is sampled on a device; undefined: only on the CPU. */
  readonly device?: DeviceSampling | undefined;
  /** Weights that no training changes, on a device: further feeds of every graph there. */
  readonly base?: { feeds(session: SessionOptions): Promise<Feeds>; release(): Promise<void> };
}

/** A small Transformer is fully described by its config; a language model has a separate network. */
export type PolicyModel = ModelConfig | PolicyNetwork;

/** The model as plain data. */
export const describeModel = (model: PolicyModel): unknown => ('samplingGraph' in model ? model.description : model);

export function networkOf(model: PolicyModel): PolicyNetwork {
  if ('samplingGraph' in model) return model;
  return {
    vocabulary: model.vocabulary,
    contextLength: model.contextLength,
    aids: model.aids,
    layout: modelLayout(model),
    description: { ...model, aids: { ...model.aids } },
    streams: cacheStreams(model),
    ...(model.architecture === 'lstm' && { shapes: 'few', lanes: 1 }),
    tensors: (graph, parameters, shape, options) => policyTensors(graph, parameters, model, shape, options),
    samplingGraph: (count, parameters) => samplingGraph(model, count, parameters),
    device:
      model.architecture === 'lstm'
        ? undefined
        : { streams: deviceStreams(model), graph: (count, parameters) => deviceSamplingGraph(model, count, parameters) },
  };
}

/** A loss over the policy as a graph builder for the training step. Inputs that the loss asks for are called `episode.name` and `token.name`. */
export function policyObjective(
  model: PolicyModel,
  shape: BatchShape,
  options: PolicyOptions,
  loss: (graph: Graph, policy: PolicyTensors, input: LossInput) => LossAndMetrics,
): MicroBatch['build'] {
  return (graph, parameters) => {
    const policy = networkOf(model).tensors(graph, parameters, shape, options);
    const numbers = new Map<string, Tensor>();
    const input: LossInput = (name, per) => {
      const key = `${per}.${name}`;
      if (shape.resident && per === 'token' && !graph.inputs.has(key)) numbers.set(key, residentNumbers(graph, key));
      return (
        numbers.get(key) ??
        graph.inputs.get(key) ??
        graph.input(key, 'float32', per === 'episode' ? [shape.episodes] : [shape.rows, shape.agentTokens])
      );
    };
    return graph.scope('loss', () => loss(graph, policy, input));
  };
}
