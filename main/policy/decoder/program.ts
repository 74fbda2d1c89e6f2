// A small Transformer as one WebAssembly program: reads tokens on top of a cache, as the sampling graph does. The runtime's operators cost more than their arithmetic where a
// model has a million parameters: a call of some hundred nodes took 0.6 ms for one row whose products take 0.1 ms. Here nothing is fed, fetched, padded or masked:
// each token attends to what its row has read, rows of any length go together, and the program knows every size.

import * as w from '../../engine/kernels/wasm.ts';
import type { Code } from '../../engine/kernels/wasm.ts';
import { at } from '../../base/indexed.ts';
import { EPSILON, pointerSize } from '../transformer/transformer.ts';
import type { ModelConfig } from '../transformer/transformer.ts';
import { addAttend, addEmbed, addGate, addKeep, addNorm, addPick, addPoint, addTurn } from './parts.ts';
import { addProduct, packedLength, roundUp, stride } from './products.ts';
import type { ProductShape } from './products.ts';

const BYTES = 4;
/** Tokens that go through the layers together: their numbers stay in the processor's cache. */
export const TOGETHER = 64;

/** Whether the program can be made: heads of whole vectors. */
export const decodable = ({ architecture, width, heads }: ModelConfig): boolean => architecture !== 'lstm' && (width / heads) % 8 === 0;

/** A matrix of the program, made of one or more of the model's, one after the other. */
interface Matrix extends ProductShape {
  readonly address: number;
  /** Parameters with the first output of each. */
  readonly parts: readonly { readonly name: string; readonly first: number }[];
}

/** A vector of the model. */
interface Vector {
  readonly address: number;
  readonly name: string;
}

export interface DecoderPlan {
  readonly config: ModelConfig;
  readonly matrices: readonly Matrix[];
  readonly vectors: readonly Vector[];
  /** Rows of `width` numbers by token, and one of zeros behind them. */
  readonly embedding: number;
  /** Cosines and sines of every position. */
  readonly rotary: number;
  /** Where each stream of the cache begins is written here, and behind that the bytes from one head to the next. */
  readonly streams: number;
  /** Numbers of a token in each stream of the cache, all heads together: keys and values of every layer, then the pointer's keys. */
  readonly streamSizes: readonly number[];
  /** Heads of each stream. */
  readonly streamHeads: readonly number[];
  readonly scratch: Readonly<Record<Scratch, number>>;
  /** Bytes of what each lane works in. */
  readonly scratchBytes: number;
  /** Numbers from one row of results to the next. */
  readonly logitStride: number;
  readonly pointerStride: number;
  /** Bytes before everything that depends on the number of rows. */
  readonly bytes: number;
}

type Scratch = 'x' | 'normal' | 'parts' | 'gathered' | 'wide' | 'active' | 'scores' | 'picked' | 'query';

/** Hands out addresses one after the other, each at the beginning of a line of the processor's cache. */
function places(): { take(numbers: number): number; readonly bytes: number } {
  let next = 64;
  return {
    take: (numbers) => {
      const address = next;
      next = roundUp(next + numbers * BYTES, 64);
      return address;
    },
    get bytes() {
      return next;
    },
  };
}

/** Numbers of the gate and of up each, padded to whole vectors. */
const innerSize = ({ feedForward }: ModelConfig): number => roundUp(feedForward, 4);

/** Where everything lies that does not depend on the number of rows. */
export function planDecoder(config: ModelConfig): DecoderPlan {
  const { width, layers, vocabulary, contextLength, heads, gate, aids } = config;
  const memory = places();
  const matrices: Matrix[] = [];
  const vectors: Vector[] = [];
  const row = stride(width);
  const inner = innerSize(config);
  const wide = gate === 'swiglu' ? 2 * inner : inner;
  const matrix = (shape: ProductShape, ...parts: Matrix['parts']): void => {
    matrices.push({ ...shape, parts, address: memory.take(packedLength(shape)) });
  };
  const vector = (name: string): void => {
    vectors.push({ name, address: memory.take(width) });
  };
  const streamSizes = [...Array<number>(2 * layers).fill(width), ...(aids.pointer ? [pointerSize(config)] : [])];
  const streamHeads = streamSizes.map((_, i) => (i < 2 * layers ? heads : 1));
  const streams = memory.take(streamSizes.length + 1);
  if (aids.matchFlag) vector('match');
  for (let back = 1; back <= aids.tokenShift; back++) vector(`shift.${back}`);
  for (let layer = 0; layer < layers; layer++) {
    const name = (part: string): string => `layer.${layer}.${part}`;
    vector(name('attention.norm'));
    const parts = ['query', 'key', 'value'].map((part, i) => ({ name: name(`attention.${part}`), first: i * width }));
    matrix({ inputs: width, outputs: 3 * width, from: row, to: stride(3 * width) }, ...parts);
    matrix({ inputs: width, outputs: width, from: row, to: row, adds: true }, { name: name('attention.output'), first: 0 });
    vector(name('feedForward.norm'));
    const gates = gate === 'swiglu' ? [{ name: name('feedForward.gate'), first: inner }] : [];
    matrix({ inputs: width, outputs: wide, from: row, to: stride(wide) }, { name: name('feedForward.up'), first: 0 }, ...gates);
    matrix({ inputs: inner, outputs: width, from: inner, to: row, adds: true }, { name: name('feedForward.down'), first: 0 });
  }
  vector('norm');
  const logits = { inputs: width, outputs: vocabulary, from: row, to: stride(vocabulary) };
  matrix(logits, { name: 'embedding', first: 0 });
  if (aids.pointer) {
    const keys = { inputs: width, outputs: pointerSize(config), from: row, to: stride(pointerSize(config)) };
    matrix(keys, { name: 'pointer.key', first: 0 });
    matrix(keys, { name: 'pointer.query', first: 0 });
    matrix({ inputs: width, outputs: 1, from: row, to: stride(1) }, { name: 'pointer.gate', first: 0 });
    vector('pointer.amount');
  }
  const embedding = memory.take((vocabulary + 1) * width);
  const rotary = memory.take((contextLength * width) / heads);
  const own = places();
  const rows = (numbers: number): number => own.take(TOGETHER * numbers);
  const scratch = {
    x: rows(row),
    normal: rows(row),
    parts: rows(stride(3 * width)),
    gathered: rows(row),
    wide: rows(stride(wide)),
    active: rows(inner),
    scores: own.take(roundUp(contextLength, 4) + 4),
    picked: rows(row),
    query: rows(stride(pointerSize(config))),
  };
  return {
    config,
    matrices,
    vectors,
    embedding,
    rotary,
    streams,
    streamSizes,
    streamHeads,
    scratch,
    scratchBytes: own.bytes,
    logitStride: logits.to,
    pointerStride: roundUp(contextLength, 4) + 4,
    bytes: memory.bytes,
  };
}

/** Products of one shape share a routine. */
const productName = ({ inputs, outputs, from, to, adds = false }: ProductShape): string =>
  `product ${inputs} ${outputs} ${from} ${to} ${adds ? 'adds' : ''}`;

/**
 * The program: `run`(scratch, records, count, wanted, logits, weights, amounts) reads up to `TOGETHER` tokens and writes the logits of the `wanted` ones, and with
 * the pointer where it looks and how much that counts. Tokens of one row come in order.
 */
export function decoderProgram(plan: DecoderPlan): Uint8Array<ArrayBuffer> {
  const { config, matrices, scratch } = plan;
  const { width, aids, layers } = config;
  const program = new w.Program();
  const row = stride(width);
  const parts = stride(3 * width);
  const inner = innerSize(config);
  const vectorAt = addressOf(plan);
  const shift = Array.from({ length: aids.tokenShift }, (_, i) => vectorAt(`shift.${i + 1}`));
  addEmbed(program, config, row, { match: aids.matchFlag ? vectorAt('match') : 0, shift });
  addNorm(program, width, row, EPSILON);
  const headBytes = w.wholeAt(w.whole(plan.streams), plan.streamSizes.length * BYTES);
  addTurn(program, config, parts, plan.rotary, headBytes);
  addAttend(program, config, parts, row, headBytes);
  addGate(program, config.gate, inner, stride(config.gate === 'swiglu' ? 2 * inner : inner));
  addPick(program, config, row);
  if (aids.pointer) {
    addKeep(program, config, pointerSize(config), stride(pointerSize(config)));
    addPoint(program, config, pointerSize(config), stride(pointerSize(config)), plan.pointerStride);
  }
  for (const shape of new Map(matrices.map((one) => [productName(one), one])).values()) addProduct(program, productName(shape), shape);

  program.add('run', 7, (r, [base, records, count, wanted, logits, weights, amounts]) => {
    const own = (name: Scratch): Code => w.plus(base.get, w.whole(scratch[name]));
    const stream = (index: number): Code => w.wholeAt(w.whole(plan.streams), index * BYTES);
    let next = 0;
    const product = (from: Code, to: Code, many: Code): void => {
      const matrix = at(matrices, next++);
      r.emit(program.call(productName(matrix), from, w.whole(matrix.address), to, many));
    };
    const norm = (gain: string, from: Scratch, to: Scratch, many: Code): void =>
      r.emit(program.call('norm', own(from), w.whole(vectorAt(gain)), own(to), many));

    r.emit(program.call('embed', records.get, own('x'), count.get));
    for (let layer = 0; layer < layers; layer++) {
      const [keys, values] = [stream(2 * layer), stream(2 * layer + 1)];
      norm(`layer.${layer}.attention.norm`, 'x', 'normal', count.get);
      product(own('normal'), own('parts'), count.get);
      r.emit(program.call('turn', records.get, own('parts'), count.get, keys, values));
      r.emit(program.call('attend', records.get, own('parts'), own('gathered'), count.get, keys, values, own('scores')));
      product(own('gathered'), own('x'), count.get);
      norm(`layer.${layer}.feedForward.norm`, 'x', 'normal', count.get);
      product(own('normal'), own('wide'), count.get);
      r.emit(program.call('gate', own('wide'), own('active'), count.get));
      product(own('active'), own('x'), count.get);
    }
    norm('norm', 'x', 'normal', count.get);
    r.emit(program.call('pick', records.get, own('normal'), own('picked'), count.get));
    r.when(wanted.get, () => product(own('picked'), logits.get, wanted.get));
    if (!aids.pointer) return;
    const keys = stream(2 * layers);
    product(own('normal'), own('parts'), count.get);
    r.emit(program.call('keep', records.get, own('parts'), count.get, keys));
    r.when(wanted.get, () => {
      product(own('picked'), own('query'), wanted.get);
      product(own('picked'), amounts.get, wanted.get);
      r.emit(program.call('point', records.get, own('query'), weights.get, count.get, keys));
    });
  });
  return program.bytes();
}

/** Where a vector of the model lies. */
export function addressOf({ vectors }: DecoderPlan): (name: string) => number {
  const known = new Map(vectors.map(({ name, address }) => [name, address]));
  return (name) => {
    const address = known.get(name);
    if (address === undefined) throw new Error(`The decoder has no vector "${name}"`);
    return address;
  };
}
