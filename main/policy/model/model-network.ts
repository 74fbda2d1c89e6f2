// A language model as a policy's network: its weights are mapped from files and stay as they are, an adapter (and a critic's value head
// where one is needed) is what training changes. With `full` every weight is trained instead; then there is no adapter.

import type { Json } from '../../base/canonical.ts';
import { Graph } from '../../engine/graph/graph.ts';
import type { Tensor } from '../../engine/graph/graph.ts';
import { logProbability } from '../../engine/graph/fused.ts';
import * as op from '../../engine/graph/operators.ts';
import { ParameterLayout } from '../../engine/graph/parameters.ts';
import type { ParameterSpec, Parameters } from '../../engine/graph/parameters.ts';
import { batchInputs, maskTableInput, sumInputs, sums } from '../transformer/batch.ts';
import type { BatchInputs, BatchLayout, BatchShape, PolicyOptions } from '../transformer/batch.ts';
import type { PolicyNetwork } from '../transformer/network.ts';
import { isShared, sharedInputs } from '../transformer/shared-batch.ts';
import type { SharedShape } from '../transformer/shared-batch.ts';
import { loraSpecs } from './adapter.ts';
import type { LoraShape } from './adapter.ts';
import { weightSpecs } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';
import { modelDeviceGraph, modelStreams } from './device-network.ts';
import { deviceWeights, fitForDevice } from './device-weights.ts';
import { joinedAdapter } from './joined.ts';
import type { MappedWeights } from './files/mapped-weights.ts';
import { partsMaker } from './parts.ts';
import type { Precision } from './files/quantise.ts';
import { readingGraph } from './reading-graph.ts';
import { writingGraph } from './writing-graph.ts';
import { writingParts } from './writing-parts.ts';
import * as net from './network.ts';
import type { ModelParts, SequenceInputs } from './network.ts';

export interface ModelNetworkOptions {
  readonly config: LanguageModelConfig;
  readonly weights: MappedWeights;
  /** The model's identity. */
  readonly hash: string;
  /** What is trained: an adapter, every weight, or nothing. */
  readonly trained: LoraShape | 'all' | 'none';
  /** At most what the model was made for. */
  readonly contextLength: number;
  readonly valueHead?: boolean;
  readonly precision?: Precision;
}

/** Numbers of logits computed at once; longer batches go through the head in portions that the backward pass computes again. */
const HEAD_PORTION = 1 << 22;
const NEVER = -1e9;
/** Two micro-batches side by side take 0.87 of the time of one with all threads; more lanes would need more memory. */
const LANES = 2;
const NO_AIDS = { matchFlag: false, pointer: false, tokenShift: 0 };

export function modelNetwork(options: ModelNetworkOptions): PolicyNetwork {
  const { config, trained, hash, valueHead = false, precision = 'f32' } = options;
  if (trained === 'all' && precision !== 'f32')
    throw new RangeError(`Training every weight needs policy.model.precision f32, found ${precision}; train an adapter instead`);
  const contextLength = Math.min(options.contextLength, config.contextLength);
  const partsOf = partsMaker(options);
  const writingPartsOf = writingParts(options);
  const onDevice = trained === 'all' || fitForDevice(options.weights);
  return {
    vocabulary: config.vocabulary,
    contextLength,
    aids: NO_AIDS,
    compactMasks: true,
    shapes: 'fine',
    shares: true,
    lanes: trained === 'all' ? 1 : LANES,
    mappedBytes: mappedBytes(options.weights),
    layout: new ParameterLayout([...trainedSpecs(config, trained), ...(valueHead ? valueSpecs(config) : [])]),
    description: { model: hash, trained: describeTrained(trained), contextLength, valueHead, ...(precision !== 'f32' && { precision }) },
    approximateSampling: precision === 'int8' || precision === 'int4',
    streams: Array.from({ length: config.layers }, (_, layer) =>
      ['key', 'value'].map((what) => ({ name: `layer.${layer}.${what}`, heads: config.keyValueHeads, size: config.headSize })),
    ).flat(),
    ...(onDevice && {
      device: {
        streams: modelStreams(config),
        graph: (count, parameters) =>
          modelDeviceGraph(config, contextLength, count, (graph) => partsOf(graph, parameters(graph), { device: true })),
      },
    }),
    ...(onDevice && trained !== 'all' && { base: deviceWeights(config, options.weights) }),
    tensors: (graph, parameters, shape, how) =>
      tensors(
        graph,
        partsOf(graph, parameters, { device: onDevice && shape.resident === true }),
        { ...options, valueHead, contextLength },
        parameters,
        shape,
        how,
      ),
    ...(typeof trained !== 'string' && { joined: joinedAdapter(config, trained, options.weights) }),
    samplingGraph: (count, parameters) => {
      const graph = new Graph(`read ${count}`);
      const found = parameters(graph);
      const parts = partsOf(graph, found);
      if (count > 1) return readingGraph(config, contextLength, graph, parts, count);
      return writingGraph(config, contextLength, graph, writingPartsOf(graph, found, parts));
    },
  };
}

const mappedBytes = (weights: MappedWeights): number =>
  [...weights.values()].reduce(
    (sum, weight) => sum + weight.place.bytes + ('scales' in weight ? weight.scales.bytes + weight.zeros.bytes : 0),
    0,
  );

const describeTrained = (trained: ModelNetworkOptions['trained']): Json =>
  typeof trained === 'string' ? trained : { rank: trained.rank, alpha: trained.alpha, targets: [...trained.targets] };

function trainedSpecs(config: LanguageModelConfig, trained: ModelNetworkOptions['trained']): ParameterSpec[] {
  if (trained === 'none') return [];
  if (trained === 'all') return weightSpecs(config).map(({ name, shape }) => ({ name, shape, decay: shape.length > 1 }));
  return loraSpecs(config, trained);
}

const valueSpecs = ({ width }: LanguageModelConfig): ParameterSpec[] => [
  { name: 'value.weight', shape: [1, width], decay: true },
  { name: 'value.bias', shape: [1], decay: false },
];

function tensors(
  graph: Graph,
  parts: ModelParts,
  { config, valueHead, contextLength }: ModelNetworkOptions,
  parameters: Parameters,
  shape: BatchShape,
  { referenceLogits = false, recompute = false }: PolicyOptions = {},
): ReturnType<PolicyNetwork['tensors']> {
  if (referenceLogits)
    throw new Error('A language model has no KL over the whole vocabulary; choose an estimator by tokens (algorithm.klEstimator)');
  const layout = { vocabulary: config.vocabulary, contextLength, aids: NO_AIDS, compactMasks: true };
  const { count, targets, mask, square, sequences, rest } = isShared(shape)
    ? sharedTokens(graph, shape, layout)
    : separateTokens(graph, shape, layout);
  const hidden = net.hiddenStates(graph, parts, config, sequences, recompute);
  return graph.scope('policy', () => {
    const masked = (x: Tensor, start: number, end: number): Tensor => {
      const logits = parts.head(x);
      if (!mask) return logits;
      const allowed = op.gather(mask.table, op.slice(mask.index, 0, start, end));
      return op.where(shape.resident ? op.greater(allowed, 0.5) : allowed, logits, NEVER);
    };
    const portion = Math.max(8, Math.floor(HEAD_PORTION / config.vocabulary));
    const inPortions = (name: string, of: (logits: Tensor, start: number, end: number) => Tensor): Tensor => {
      if (count <= portion) return of(masked(hidden, 0, count), 0, count);
      const pieces = Array.from({ length: Math.ceil(count / portion) }, (_, i) => {
        const [start, end] = [i * portion, Math.min(count, (i + 1) * portion)];
        return graph.recomputed(`${name}.${i}`, [op.slice(hidden, 0, start, end)], (x) => of(masked(x, start, end), start, end));
      });
      return op.concat(pieces, 0);
    };
    const values = (): Tensor => {
      const weighed = op.matmul(hidden, parameters('value.weight'), { transposeB: true });
      return square(op.add(weighed, parameters('value.bias')));
    };
    return {
      ...sums(rest, shape),
      logits: masked(hidden, 0, count),
      logProbs: op.mul(
        square(inPortions('logProbs', (logits, start, end) => logProbability(logits, op.slice(targets, 0, start, end)))),
        rest.weights,
      ),
      entropies: square(inPortions('entropies', entropy)),
      kl: undefined,
      values: valueHead ? values() : undefined,
    };
  });
}

/** What the network computes for a batch: the tokens of the agent in a row, and how their numbers become those of rows. */
interface ComputedTokens {
  readonly count: number;
  readonly targets: Tensor;
  readonly mask: BatchInputs['mask'];
  /** [count] → [rows, agent tokens] */
  readonly square: (numbers: Tensor) => Tensor;
  readonly sequences: SequenceInputs;
  readonly rest: ReturnType<typeof sumInputs>;
}

function separateTokens(graph: Graph, shape: BatchShape, layout: BatchLayout): ComputedTokens {
  const { rows, agentTokens } = shape;
  const { tokens, positions, targets, mask, ...rest } = batchInputs(graph, shape, layout);
  const count = rows * agentTokens;
  const flat = (x: Tensor): Tensor => op.reshape(x, [count]);
  const row = graph.constant(
    Int32Array.from({ length: rows }, (_, i) => i),
    [rows, 1],
    'int32',
    'row',
  );
  return {
    count,
    targets: flat(targets),
    mask: mask && { table: mask.table, index: flat(mask.index) },
    square: (x) => op.reshape(x, [rows, agentTokens]),
    sequences: { tokens, places: flat(op.add(op.mul(positions, rows), row)) },
    rest,
  };
}

function sharedTokens(graph: Graph, shape: SharedShape, layout: BatchLayout): ComputedTokens {
  const { tokens, places, targets, depths, seen, maskIndex, spread } = sharedInputs(graph, shape);
  return {
    count: shape.distinct,
    targets,
    mask: maskIndex && { table: maskTableInput(graph, shape, layout), index: maskIndex },
    square: spread,
    sequences: { tokens, places, trees: { depths, seen } },
    rest: sumInputs(graph, shape),
  };
}

/** −Σ p · log p of each row. */
function entropy(logits: Tensor): Tensor {
  const all = op.logSoftmax(logits);
  return op.neg(op.reduceSum(op.mul(op.exp(all), all), [-1]));
}
