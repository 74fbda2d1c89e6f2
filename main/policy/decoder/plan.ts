// Where everything of a decoder lies in its memory, and the plan that its kernels (decoder.as.ts) read: sizes, strides and addresses of a small Transformer. The runtime's
// operators cost more than their arithmetic where a model has a million parameters: a call of some hundred nodes took 0.6 ms for one row whose products take 0.1 ms.

import { packedLength, roundUp, rowStride } from '../../engine/kernels/packing.ts';
import { EPSILON, pointerSize } from '../transformer/transformer.ts';
import type { ModelConfig } from '../transformer/transformer.ts';

const BYTES = 4;
/** Tokens that go through the layers together: their numbers stay in the processor's cache. */
export const TOGETHER = 64;

/** Whether the kernels can read the model: heads of a multiple of eight numbers. */
export const decodable = ({ architecture, width, heads }: ModelConfig): boolean => architecture !== 'lstm' && (width / heads) % 8 === 0;

/** The words of a token's record, as `Token` in decoder.as.ts; `seen`: for itself and each token before it that it sees, the address of the embedding and the match flag. */
export const RECORD = { rowStart: 0, position: 1, last: 2, seen: 3 } as const;
export const recordLength = ({ aids }: ModelConfig): number => RECORD.seen + 2 * (1 + aids.tokenShift);

/** A matrix of the decoder, made of one or more of the model's, one after the other. */
interface Matrix {
  readonly address: number;
  readonly inputs: number;
  readonly outputs: number;
  /** Parameters with the first output of each. */
  readonly parts: readonly { readonly name: string; readonly first: number }[];
}

/** A vector of the model. */
interface Vector {
  readonly address: number;
  readonly name: string;
}

/** Addresses of a layer's parameters. */
interface LayerPlan {
  readonly attentionNorm: number;
  readonly projections: number;
  readonly attentionOutput: number;
  readonly feedForwardNorm: number;
  readonly up: number;
  readonly down: number;
}

/** From the beginning of what a lane works in. */
type Scratch = Readonly<Record<'x' | 'normal' | 'projected' | 'gathered' | 'wide' | 'active' | 'scores' | 'picked' | 'query', number>>;

export interface DecoderPlan {
  readonly config: ModelConfig;
  /** Where the kernels' plan is written. */
  readonly address: number;
  readonly matrices: readonly Matrix[];
  readonly vectors: readonly Vector[];
  readonly layers: readonly LayerPlan[];
  /** Rows of `width` numbers by token, and one of zeros behind them. */
  readonly embedding: number;
  /** Cosines and sines of every position. */
  readonly rotary: number;
  readonly norm: number;
  readonly logits: number;
  /** The pointer's parameters; 0 without it. */
  readonly pointer: { readonly key: number; readonly query: number; readonly gate: number; readonly amount: number };
  readonly match: number;
  readonly shift: number;
  /** Numbers of a token in each stream of the cache, all heads together: keys and values of every layer, then the pointer's keys. */
  readonly streamSizes: readonly number[];
  /** Heads of each stream. */
  readonly streamHeads: readonly number[];
  readonly scratch: Scratch;
  /** Bytes of what each lane works in. */
  readonly scratchBytes: number;
  /** Numbers from one row of results to the next. */
  readonly logitStride: number;
  readonly pointerStride: number;
  /** Bytes before everything that depends on the number of rows. */
  readonly bytes: number;
}

/** Hands out addresses one after the other, each at the beginning of a line of the processor's cache. */
class Places {
  bytes = 64;

  take(numbers: number): number {
    const address = this.bytes;
    this.bytes = lineUp(address + numbers * BYTES);
    return address;
  }
}

const lineUp = (bytes: number): number => roundUp(bytes, 64);

/** As decoder.as.ts numbers them. */
const GATES = { swiglu: 0, silu: 1, relu: 2, relu2: 3 } as const;
const PLAN_WORDS = 38;
const LAYER_WORDS = 8;

/** Numbers of the gate and of up each, padded to whole vectors. */
const innerSize = ({ feedForward }: ModelConfig): number => roundUp(feedForward, 4);
/** Numbers of both. */
const wideSize = (config: ModelConfig): number => (config.gate === 'swiglu' ? 2 : 1) * innerSize(config);

/** Where everything lies that does not depend on the number of rows. */
export function planDecoder(config: ModelConfig): DecoderPlan {
  const { width, layers: count, vocabulary, contextLength, heads, gate, aids } = config;
  const memory = new Places();
  const address = memory.take(PLAN_WORDS + count * LAYER_WORDS);
  const matrices: Matrix[] = [];
  const vectors: Vector[] = [];
  const inner = innerSize(config);
  const pointed = pointerSize(config);
  const matrix = (inputs: number, outputs: number, ...parts: readonly (readonly [name: string, first: number])[]): number => {
    const place = memory.take(packedLength(inputs, outputs));
    matrices.push({ address: place, inputs, outputs, parts: parts.map(([name, first]) => ({ name, first })) });
    return place;
  };
  const vector = (name: string): number => {
    const place = memory.take(width);
    vectors.push({ name, address: place });
    return place;
  };
  const match = aids.matchFlag ? vector('match') : 0;
  const [shift = 0] = Array.from({ length: aids.tokenShift }, (_, i) => vector(`shift.${i + 1}`));
  const layers = Array.from({ length: count }, (_, layer): LayerPlan => {
    const name = (part: string): string => `layer.${layer}.${part}`;
    const three = (['query', 'key', 'value'] as const).map((part, i) => [name(`attention.${part}`), i * width] as const);
    const gates = gate === 'swiglu' ? [[name('feedForward.gate'), inner] as const] : [];
    return {
      attentionNorm: vector(name('attention.norm')),
      projections: matrix(width, 3 * width, ...three),
      attentionOutput: matrix(width, width, [name('attention.output'), 0]),
      feedForwardNorm: vector(name('feedForward.norm')),
      up: matrix(width, wideSize(config), [name('feedForward.up'), 0], ...gates),
      down: matrix(inner, width, [name('feedForward.down'), 0]),
    };
  });
  const norm = vector('norm');
  const logits = matrix(width, vocabulary, ['embedding', 0]);
  const pointer = aids.pointer
    ? {
        key: matrix(width, pointed, ['pointer.key', 0]),
        query: matrix(width, pointed, ['pointer.query', 0]),
        gate: matrix(width, 1, ['pointer.gate', 0]),
        amount: vector('pointer.amount'),
      }
    : { key: 0, query: 0, gate: 0, amount: 0 };
  const embedding = memory.take((vocabulary + 1) * width);
  const rotary = memory.take((contextLength * width) / heads);
  const streamSizes = [...Array<number>(2 * count).fill(width), ...(aids.pointer ? [pointed] : [])];
  return {
    config,
    address,
    matrices,
    vectors,
    layers,
    embedding,
    rotary,
    norm,
    logits,
    pointer,
    match,
    shift,
    streamSizes,
    streamHeads: streamSizes.map((_, i) => (i < 2 * count ? heads : 1)),
    ...planScratch(config),
    logitStride: rowStride(vocabulary),
    pointerStride: scoreCount(config),
    bytes: memory.bytes,
  };
}

/** Room for the scores of all positions, and for four more. */
const scoreCount = ({ contextLength }: ModelConfig): number => roundUp(contextLength, 4) + 4;

function planScratch(config: ModelConfig): { scratch: Scratch; scratchBytes: number } {
  const { width } = config;
  const places = new Places();
  const rows = (numbers: number): number => places.take(TOGETHER * numbers);
  const scratch = {
    x: rows(rowStride(width)),
    normal: rows(rowStride(width)),
    projected: rows(rowStride(3 * width)),
    gathered: rows(rowStride(width)),
    wide: rows(rowStride(wideSize(config))),
    active: rows(innerSize(config)),
    scores: places.take(scoreCount(config)),
    picked: rows(rowStride(width)),
    query: rows(rowStride(pointerSize(config))),
  };
  return { scratch, scratchBytes: places.bytes };
}

/** The plan as the kernels read it. `streams`: where each stream of the cache begins; `time`: positions of a row in it. */
export function planWords(plan: DecoderPlan, streams: readonly number[], time: number): Int32Array {
  const { config, scratch, pointer } = plan;
  const { width, layers, heads, vocabulary, aids } = config;
  const pointed = aids.pointer ? pointerSize(config) : 0;
  const [epsilon = 0] = new Int32Array(Float32Array.of(EPSILON).buffer);
  const strideOf = (numbers: number): number => rowStride(numbers) * BYTES;
  // In the order of `Plan` in decoder.as.ts.
  const words = {
    width,
    layers,
    heads,
    inner: innerSize(config),
    gate: GATES[config.gate],
    vocabulary,
    tokenShift: aids.tokenShift,
    matchFlag: aids.matchFlag ? 1 : 0,
    pointerSize: pointed,
    epsilon,
    rowStride: strideOf(width),
    projectionStride: strideOf(3 * width),
    wideStride: strideOf(wideSize(config)),
    logitStride: strideOf(vocabulary),
    pointerStride: strideOf(pointed),
    weightStride: plan.pointerStride * BYTES,
    amountStride: strideOf(1),
    headStride: (time * width * BYTES) / heads,
    recordBytes: recordLength(config) * BYTES,
    match: plan.match,
    shift: plan.shift,
    vectorBytes: lineUp(width * BYTES),
    rotary: plan.rotary,
    norm: plan.norm,
    logits: plan.logits,
    pointerKey: pointer.key,
    pointerQuery: pointer.query,
    pointerGate: pointer.gate,
    pointerKeys: streams[2 * layers] ?? 0,
    x: scratch.x,
    normal: scratch.normal,
    projected: scratch.projected,
    gathered: scratch.gathered,
    wide: scratch.wide,
    active: scratch.active,
    scores: scratch.scores,
    picked: scratch.picked,
    query: scratch.query,
  };
  // And of `Layer`.
  const layerWords = plan.layers.map((layer, i) => ({
    attentionNorm: layer.attentionNorm,
    projections: layer.projections,
    attentionOutput: layer.attentionOutput,
    feedForwardNorm: layer.feedForwardNorm,
    up: layer.up,
    down: layer.down,
    keys: streams[2 * i] ?? 0,
    values: streams[2 * i + 1] ?? 0,
  }));
  return Int32Array.from([words, ...layerWords].flatMap((record) => Object.values(record)));
}
