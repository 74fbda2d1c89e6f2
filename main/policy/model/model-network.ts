// A language model as a policy's network: its weights are mapped from files and stay as they are, an adapter (and a critic's value head
// where one is needed) is what training changes. With `full` every weight is trained instead; then there is no adapter.

import type { Json } from '../../canonical.ts';
import { Graph } from '../../engine/graph.ts';
import type { Tensor } from '../../engine/graph.ts';
import { logProbability } from '../../engine/fused.ts';
import * as op from '../../engine/operators.ts';
import { ParameterLayout } from '../../engine/parameters.ts';
import type { ParameterSpec, Parameters } from '../../engine/parameters.ts';
import { batchInputs, maskTableInput, sumInputs, sums } from '../batch.ts';
import type { BatchInputs, BatchLayout, BatchShape, PolicyOptions } from '../batch.ts';
import type { PolicyNetwork } from '../network.ts';
import { attention, node, part, pickRow, product } from '../sampling-graph.ts';
import { isShared, sharedInputs } from '../shared-batch.ts';
import type { SharedShape } from '../shared-batch.ts';
import { loraSpecs } from './adapter.ts';
import type { LoraShape } from './adapter.ts';
import { weightSpecs } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';
import { modelDeviceGraph, modelStreams } from './device-network.ts';
import { deviceWeights, fitForDevice, weightInput } from './device-weights.ts';
import { HEAD } from './mapped-weights.ts';
import type { MappedWeight, MappedWeights } from './mapped-weights.ts';
import { BLOCK, type Precision } from './quantise.ts';
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
    samplingGraph: (count, parameters) => {
      const graph = new Graph(`read ${count}`);
      // One token at a time is bound by memory: there the blocks are multiplied as they are. More at once are worth unpacking them for.
      return samplingGraph(graph, partsOf(graph, parameters(graph), { blocks: count === 1 }), config, contextLength, count);
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

/**
 * How the weights and products of a graph are made; with `blocks`, products with quantised matrices take them as they are, approximately;
 * on a device the weights are inputs.
 */
function partsMaker({
  config,
  weights,
  trained,
}: ModelNetworkOptions): (
  graph: Graph,
  parameters: Parameters,
  how?: { readonly blocks?: boolean; readonly device?: boolean },
) => ModelParts {
  const shapes = new Map(weightSpecs(config).map(({ name, shape }) => [name, shape]));
  const embedding = shapes.get('model.embed_tokens.weight');
  if (embedding && !shapes.has(HEAD)) shapes.set(HEAD, embedding);
  const lora = typeof trained === 'string' ? undefined : trained;
  const adapted = new Set(lora ? loraSpecs(config, lora).map(({ name }) => name) : []);
  return (graph, parameters, { blocks = false, device = false } = {}) => {
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
    const times = (x: Tensor, name: string): Tensor => {
      if (trained === 'all') return op.matmul(x, parameters(name), { transposeB: true });
      const { shape, mapped } = find(name);
      return blocks && 'scales' in mapped ? blockProduct(graph, x, name, shape, mapped) : op.matmul(x, weight(name), { transposeB: true });
    };
    const linear = (name: string, x: Tensor): Tensor => {
      let y = times(x, `${name}.weight`);
      if (shapes.has(`${name}.bias`)) y = op.add(y, weight(`${name}.bias`));
      if (!lora || !adapted.has(`${name}.lora_A`)) return y;
      const low = op.matmul(x, parameters(`${name}.lora_A`), { transposeB: true });
      return op.add(y, op.matmul(low, parameters(`${name}.lora_B`), { transposeB: true, scale: lora.alpha / lora.rank }));
    };
    const embed = (tokens: Tensor): Tensor => {
      const name = 'model.embed_tokens.weight';
      if (trained === 'all') return op.gather(parameters(name), tokens);
      const { shape, mapped } = find(name);
      // Rows are unpacked after they were chosen.
      if (mapped.kind !== 'f16' || device) return op.gather(weight(name), tokens);
      return op.cast(op.gather(graph.external(`${name} f16`, 'float16', shape, mapped.place), tokens), 'float32');
    };
    return { weight, linear, embed, head: (x) => times(x, weights.has(HEAD) || !config.tied ? HEAD : 'model.embed_tokens.weight') };
  };
}

/** A weight as float32, whatever it is in its file. */
function unpacked(graph: Graph, name: string, shape: readonly number[], mapped: MappedWeight): Tensor {
  if (mapped.kind === 'f32') return graph.external(name, 'float32', shape, mapped.place);
  if (mapped.kind === 'f16') return op.cast(graph.external(`${name} f16`, 'float16', shape, mapped.place), 'float32');
  if (!('scales' in mapped)) throw new Error(`The weight ${name} has no scales`);
  const type = mapped.kind === 'int8' ? 'uint8' : 'uint4';
  const blocks = [shape[0] ?? 0, (shape[1] ?? 0) / BLOCK];
  const inputs = [
    graph.external(`${name} ${type}`, type, shape, mapped.place),
    graph.external(`${name} scales`, 'float32', blocks, mapped.scales),
    graph.external(`${name} zeros`, type, blocks, mapped.zeros),
  ] as const;
  return node('DequantizeLinear', [...inputs], shape, { axis: 1, block_size: BLOCK });
}

/** How precisely the runtime multiplies blocks: 4 rounds the activations to 8 bits, and is the only fast way. */
const ACCURACY_LEVEL = 4;

function blockProduct(graph: Graph, x: Tensor, name: string, shape: readonly number[], mapped: MappedWeight): Tensor {
  if (!('scales' in mapped)) throw new Error(`The weight ${name} has no scales`);
  const [rows = 0, width = 0] = shape;
  const bits = mapped.kind === 'int8' ? 8 : 4;
  const blocks = width / BLOCK;
  const packed = graph.external(`${name} blocks`, 'uint8', [rows, blocks, (BLOCK * bits) / 8], mapped.place);
  const scales = graph.external(`${name} scales`, 'float32', [rows, blocks], mapped.scales);
  const attributes = { K: width, N: rows, bits, block_size: BLOCK, accuracy_level: ACCURACY_LEVEL };
  return node('BlockProduct', [x, packed, scales], [...x.shape.slice(0, -1), rows], attributes);
}

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
      const chosen = op.gather(mask.table, op.slice(mask.index, 0, start, end));
      return op.where(shape.resident ? op.greater(chosen, 0.5) : chosen, logits, NEVER);
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

/** See the small Transformer's `samplingGraph`: the same inputs and outputs, with queries that share key-value heads in groups. */
function samplingGraph(graph: Graph, parts: ModelParts, config: LanguageModelConfig, contextLength: number, count: number): Graph {
  const { heads, keyValueHeads, headSize, width } = config;
  const group = heads / keyValueHeads;
  const positions = graph.input('positions', 'int64', ['rows', count]);
  const mask = graph.input('mask', 'float32', ['rows', 1, count, 'total']);
  // Each key-value head sees the queries of its group one after the other, so the mask is repeated for them.
  const masks = group === 1 ? mask : node('Concat', many(mask, group), mask.shape.with(2, group * count), { axis: 2 });
  const { cosine, sine } = net.rotaryTables(graph, config, contextLength);
  const split = (x: Tensor, own: number): Tensor =>
    count === 1 ? op.reshape(x, ['rows', own, 1, headSize]) : op.transpose(op.reshape(x, ['rows', count, own, headSize]), [0, 2, 1, 3]);
  // For one token the queries of a group lie one after the other as they are.
  const grouped = (x: Tensor): Tensor => op.reshape(count === 1 ? x : split(x, heads), ['rows', keyValueHeads, group * count, headSize]);
  const joined = (x: Tensor): Tensor =>
    op.reshape(count === 1 ? x : op.transpose(op.reshape(x, ['rows', heads, count, headSize]), [0, 2, 1, 3]), [
      'rows',
      count,
      heads * headSize,
    ]);
  const cached = (name: string, like: Tensor): Tensor => {
    graph.output(`new.${name}`, like);
    return graph.input(`cache.${name}`, 'float32', ['rows', keyValueHeads, 'time', headSize]);
  };
  let x = parts.embed(graph.input('tokens', 'int32', ['rows', count]));
  for (let layer = 0; layer < config.layers; layer++) {
    graph.scope(`layer.${layer}`, () => {
      const own = net.projections(parts, config, layer, x);
      const query = grouped(op.rotary(own.query, positions, cosine, sine, heads));
      const key = split(op.rotary(own.key, positions, cosine, sine, keyValueHeads), keyValueHeads);
      const value = split(own.value, keyValueHeads);
      const weights = attention(query, cached(`layer.${layer}.key`, key), key, masks, 1 / Math.sqrt(headSize));
      const oldValues = cached(`layer.${layer}.value`, value);
      const gathered = op.add(op.matmul(part(weights, 'time', 0, -count), oldValues), product(part(weights, count, -count), value));
      x = net.attentionOutput(parts, layer, x, joined(gathered));
      x = net.feedForward(parts, config, layer, x);
    });
  }
  const hidden = net.finalNorm(parts, config, x);
  const last = count === 1 ? op.reshape(hidden, ['rows', width]) : pickRow(hidden, graph.input('last', 'int64', ['rows', 1]));
  graph.output('logits', parts.head(last));
  return graph;
}

const many = (tensor: Tensor, count: number): [Tensor, ...Tensor[]] => [tensor, ...Array.from({ length: count - 1 }, () => tensor)];
