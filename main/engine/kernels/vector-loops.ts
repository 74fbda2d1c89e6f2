// Three loops over long vectors as WebAssembly with SIMD instructions: adding gradients up, the sum of squares, and AdamW. Between two runs of the
// graph nothing else computes, so their time counts in full: with 5.9 M parameters they took 100 of 630 ms as plain loops.
// Every number is that of the plain loop, bit for bit: the same operations in double precision, two at a time, rounded where it rounded.
// WebAssembly only sees its own memory, so vectors pass through it in pieces that stay in the cache. The module is spelled out below (see wasm.ts).

import { type Code, HEADER, leb, section, signedLeb, simd, text } from './wasm.ts';

/** Numbers of one piece. */
const PIECE = 16384;
const PAGE = 65_536;
/** Constants lie at the beginning, then up to four pieces. */
const FIRST = 1024;
const at = (slot: number): number => FIRST + slot * PIECE * 4;

// ── instructions ─────────────────────────────────────────────────────────────────────────────────────────────────

const place = (offset: number): Code => [2, ...leb(offset)];
const get = (local: number): Code => [0x20, local];
const keep = (local: number, value: Code): Code => [...value, 0x21, local];
const both =
  (op: number) =>
  (a: Code, b: Code): Code => [...a, ...b, ...simd(op)];
// Of two numbers in double precision, but for the first.
const addFour = both(228);
const [add, sub, mul, div] = [both(240), both(241), both(242), both(243)];
const sqrt = (a: Code): Code => [...a, ...simd(239)];

/** Four numbers of the piece in a slot at the byte at hand, and back. */
const four = (slot: number): Code => [...get(1), ...simd(0), ...place(at(slot))];
const putFour = (slot: number, value: Code): Code => [...get(1), ...value, ...simd(11), ...place(at(slot))];
/** Two numbers, widened to double precision, and narrowed back; `half` 1 are the next two. */
const pair = (slot: number, half = 0): Code => [...get(1), ...simd(93), ...place(at(slot) + 8 * half), ...simd(95)];
const putPair = (slot: number, value: Code): Code => [...get(1), ...value, ...simd(94), ...simd(91), ...place(at(slot)), 0];
/** A constant in double precision, twice; two constants; two constants written. */
const constant = (index: number): Code => [0x41, 0, ...simd(10), ...place(8 * index)];
const constants2 = (index: number): Code => [0x41, 0, ...simd(0), ...place(8 * index)];
const putConstants2 = (index: number, value: Code): Code => [0x41, 0, ...value, ...simd(11), ...place(8 * index)];

/** Locals: 0 is the byte where the piece ends, 1 the byte at hand, the others are vectors. Runs `body` every `step` bytes. */
function loop(step: number, body: Code): Code {
  return [0x03, 0x40, ...body, ...get(1), 0x41, ...signedLeb(step), 0x6a, 0x22, 1, ...get(0), 0x49, 0x0d, 0, 0x0b];
}

const ADD = loop(16, putFour(0, addFour(four(0), four(1))));

const squareOf = (vector: Code): Code => mul(vector, vector);
/** Four sums at once, as constants 0 to 3: those of numbers 0, 4, 8, … and so on. */
const SQUARES = [
  keep(2, constants2(0)),
  keep(3, constants2(2)),
  loop(
    16,
    [0, 1].flatMap((half) => [...keep(4, pair(0, half)), ...keep(2 + half, add(get(2 + half), squareOf(get(4))))]),
  ),
  putConstants2(0, get(2)),
  putConstants2(2, get(3)),
].flat();

const [gradient, moment, second] = [get(2), get(3), get(4)];
/** Of AdamW; and locals that are vectors. */
const FACTORS = 7;
const VECTORS = 3 + FACTORS;
/** Constants: β1, share1, β2, share2, kept, step size, ε; they stay in registers. Pieces: values, first, second, gradient. */
const factor = (index: number): Code => get(VECTORS - FACTORS + 2 + index);
const ADAMW = [
  ...Array.from({ length: FACTORS }, (_, index) => keep(VECTORS - FACTORS + 2 + index, constant(index))),
  loop(
    8,
    [
      keep(2, pair(3)),
      keep(3, add(mul(factor(0), pair(1)), mul(factor(1), gradient))),
      keep(4, add(mul(factor(2), pair(2)), mul(mul(factor(3), gradient), gradient))),
      putPair(1, moment),
      putPair(2, second),
      putPair(0, sub(mul(pair(0), factor(4)), div(mul(factor(5), moment), add(sqrt(second), factor(6))))),
    ].flat(),
  ),
].flat();

function assemble(functions: Readonly<Record<string, Code>>): Uint8Array<ArrayBuffer> {
  const bodies = Object.values(functions).map((code) => {
    const body = [2, 1, 0x7f, VECTORS, 0x7b, ...code, 0x0b]; // locals: one i32, then vectors
    return [...leb(body.length), ...body];
  });
  return Uint8Array.from([
    ...HEADER,
    ...section(1, [[0x60, 1, 0x7f, 0]]),
    ...section(
      3,
      bodies.map(() => [0]),
    ),
    ...section(5, [[0, Math.ceil(at(4) / PAGE)]]),
    ...section(7, [[...text('memory'), 2, 0], ...Object.keys(functions).map((name, i) => [...text(name), 0, i])]),
    ...section(10, bodies),
  ]);
}

// ── the loops ────────────────────────────────────────────────────────────────────────────────────────────────────

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(assemble({ add: ADD, squares: SQUARES, adamW: ADAMW })));
const memory = exports.memory instanceof WebAssembly.Memory ? exports.memory.buffer : new ArrayBuffer(0);
const constants = new Float64Array(memory, 0, FIRST / 8);
const pieces = [0, 1, 2, 3].map((slot) => new Float32Array(memory, at(slot), PIECE));

function call(name: string, bytes: number): void {
  const code = exports[name];
  if (typeof code === 'function') code(bytes);
}

/** Passes vectors of one length through `work` piece by piece; the first `written` of them are changed. */
function through(vectors: readonly Float32Array[], written: number, name: string): void {
  const length = vectors[0]?.length ?? 0;
  for (let begin = 0; begin < length; begin += PIECE) {
    const end = Math.min(length, begin + PIECE);
    for (const [slot, vector] of vectors.entries()) pieces[slot]?.set(vector.subarray(begin, end));
    // What lies behind the last number is computed as well and not looked at.
    call(name, 16 * Math.ceil((end - begin) / 4));
    for (let slot = 0; slot < written; slot++) {
      const piece = pieces[slot];
      if (piece) vectors[slot]?.set(end - begin === PIECE ? piece : piece.subarray(0, end - begin), begin);
    }
  }
}

/** sum += more */
export function addTo(sum: Float32Array, more: Float32Array): void {
  through([sum, more], 1, 'add');
}

/** Σ x² in double precision: four sums, of every fourth number each, then those together. */
export function sumOfSquares(x: Float32Array): number {
  constants.fill(0, 0, 4);
  const whole = x.length - (x.length % 4);
  through([x.subarray(0, whole)], 0, 'squares');
  const [first = 0, b = 0, c = 0, d = 0] = constants;
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
  constants.set([beta1, share1, beta2, share2, kept, stepSize, epsilon]);
  through([values, first, second, gradient], 3, 'adamW');
}
