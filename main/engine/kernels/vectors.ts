// Loops over long vectors (vectors.as.ts): adding gradients up, the sum of squares, and AdamW. Between two runs of the graph nothing else computes, so their
// time counts in full: with 5.9 M parameters they took 100 of 630 ms as plain loops. Every number is that of the plain loop, bit for bit.
// WebAssembly only sees its own memory, so vectors pass through it in pieces that stay in the cache.

import { sharedMemory } from '../runtime/shared-memory.ts';
import { instantiate, kernelModule } from './load.ts';

/** Numbers of one piece. */
const PIECE = 16384;
/** Four sums lie at the beginning, then up to four pieces. */
const FIRST = 64;
const addressOf = (slot: number): number => FIRST + slot * PIECE * Float32Array.BYTES_PER_ELEMENT;

const memory = sharedMemory(addressOf(4));
const kernel = instantiate(kernelModule('vectors'), memory);
const [add, addSquares, adamW] = [kernel('add'), kernel('addSquares'), kernel('adamW')];
const sums = new Float64Array(memory.buffer, 0, 4);
const pieces = [0, 1, 2, 3].map((slot) => new Float32Array(memory.buffer, addressOf(slot), PIECE));

/** Passes vectors of one length through `work` piece by piece; the first `written` of them are changed. */
function through(vectors: readonly Float32Array[], written: number, work: (count: number) => void): void {
  const length = vectors[0]?.length ?? 0;
  for (let begin = 0; begin < length; begin += PIECE) {
    const end = Math.min(length, begin + PIECE);
    for (const [slot, vector] of vectors.entries()) pieces[slot]?.set(vector.subarray(begin, end));
    // What lies behind the last number is computed as well and not looked at.
    work(4 * Math.ceil((end - begin) / 4));
    for (let slot = 0; slot < written; slot++) {
      const piece = pieces[slot];
      if (piece) vectors[slot]?.set(end - begin === PIECE ? piece : piece.subarray(0, end - begin), begin);
    }
  }
}

/** sum += more */
export function addTo(sum: Float32Array, more: Float32Array): void {
  through([sum, more], 1, (count) => add(addressOf(0), addressOf(1), count));
}

/** Σ x² in double precision: four sums, of every fourth number each, then those together. */
export function sumOfSquares(x: Float32Array): number {
  sums.fill(0);
  const whole = x.length - (x.length % 4);
  through([x.subarray(0, whole)], 0, (count) => addSquares(addressOf(0), 0, count));
  const [first = 0, b = 0, c = 0, d = 0] = sums;
  let a = first;
  for (let i = whole; i < x.length; i++) a += x[i]! ** 2;
  return a + b + c + d;
}

/** What AdamW multiplies with; see optimizer.ts. */
export interface AdamWFactors {
  readonly beta1: number;
  readonly share1: number;
  readonly beta2: number;
  readonly share2: number;
  readonly kept: number;
  readonly stepSize: number;
  readonly epsilon: number;
}

/** What AdamW reads and, but for the gradient, changes. */
export type AdamWVectors = Readonly<Record<'values' | 'first' | 'second' | 'gradient', Float32Array>>;

/** m = β1·m + share1·g, v = β2·v + share2·g², values = values·kept − stepSize·m / (√v + ε). */
export function adamWLoop(
  { values, first, second, gradient }: AdamWVectors,
  { beta1, share1, beta2, share2, kept, stepSize, epsilon }: AdamWFactors,
): void {
  const [v, m, s, g] = [addressOf(0), addressOf(1), addressOf(2), addressOf(3)];
  through([values, first, second, gradient], 3, (count) => adamW(v, m, s, g, count, beta1, share1, beta2, share2, kept, stepSize, epsilon));
}
