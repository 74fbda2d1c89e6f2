// Three loops over long vectors as WebAssembly with SIMD instructions: adding gradients up, the sum of squares, and AdamW. Between two runs of the
// graph nothing else computes, so their time counts in full: with 5.9 M parameters they took 100 of 630 ms as plain loops.
// Every number is that of the plain loop, bit for bit: the same operations in double precision, two at a time, rounded where it rounded.
// WebAssembly only sees its own memory, so vectors pass through it in pieces that stay in the cache. The module is spelled out below, because a
// compiler for some fifty instructions would be a dependency more.

/** Numbers of one piece. */
const PIECE = 16_384;
const PAGE = 65_536;
/** Constants lie at the beginning, then up to four pieces. */
const FIRST = 1024;
const at = (slot: number): number => FIRST + slot * PIECE * 4;

// ── a tiny assembler ─────────────────────────────────────────────────────────────────────────────────────────────

type Code = readonly number[];

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 128) return [...bytes, left];
    bytes.push((left & 127) | 128);
  }
}

function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7) {
    const byte = left & 127;
    if ((left >> 7 === 0 && !(byte & 64)) || (left >> 7 === -1 && byte & 64)) return [...bytes, byte];
    bytes.push(byte | 128);
  }
}

const simd = (code: number): Code => [0xfd, ...leb(code)];
/** SIMD instructions by their names in the specification. */
const OP = {
  addF32: simd(228),
  add: simd(240),
  sub: simd(241),
  mul: simd(242),
  div: simd(243),
  sqrt: simd(239),
  widen: simd(95), // f64x2.promote_low_f32x4
  narrow: simd(94), // f32x4.demote_f64x2_zero
} as const;
const place = (offset: number): number[] => [2, ...leb(offset)];
const load = (offset: number): Code => [...simd(0), ...place(offset)];
const store = (offset: number): Code => [...simd(11), ...place(offset)];
/** Two numbers of single precision, and back. */
const loadPair = (offset: number): Code => [...simd(93), ...place(offset), ...OP.widen];
const storePair = (offset: number): Code => [...OP.narrow, ...simd(91), ...place(offset), 0];
/** A constant in double precision, twice. */
const constant = (index: number): Code => [0x41, 0, ...simd(10), ...place(8 * index)];
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];

/** Locals: 0 is the byte where the piece ends, 1 the byte at hand, 2 and on are vectors. Runs `body` every `step` bytes. */
function loop(step: number, body: Code): Code {
  return [0x03, 0x40, ...body, ...get(1), 0x41, ...signedLeb(step), 0x6a, 0x22, 1, ...get(0), 0x49, 0x0d, 0, 0x0b];
}

const ADD: Code = loop(16, [...get(1), ...get(1), ...load(at(0)), ...get(1), ...load(at(1)), ...OP.addF32, ...store(at(0))]);

/** Four sums at once, as constants 0 to 3: those of numbers 0, 4, 8, … and so on. */
const SQUARES: Code = [
  ...[0x41, 0, ...load(0), ...set(2), 0x41, 0, ...load(16), ...set(3)],
  ...loop(
    16,
    [0, 1].flatMap((half) => [
      ...[...get(1), ...loadPair(at(0) + 8 * half), ...set(4)],
      ...[...get(2 + half), ...get(4), ...get(4), ...OP.mul, ...OP.add, ...set(2 + half)],
    ]),
  ),
  ...[0x41, 0, ...get(2), ...store(0), 0x41, 0, ...get(3), ...store(16)],
];

/** Constants: β1, share1, β2, share2, kept, step size, ε. Pieces: values, first, second, gradient. */
const ADAMW: Code = loop(8, [
  ...[...get(1), ...loadPair(at(3)), ...set(2)],
  ...[...constant(0), ...get(1), ...loadPair(at(1)), ...OP.mul, ...constant(1), ...get(2), ...OP.mul, ...OP.add, ...set(3)],
  ...[...constant(2), ...get(1), ...loadPair(at(2)), ...OP.mul, ...constant(3), ...get(2), ...OP.mul, ...get(2), ...OP.mul, ...OP.add, ...set(4)],
  ...[...get(1), ...get(3), ...storePair(at(1)), ...get(1), ...get(4), ...storePair(at(2))],
  ...[...get(1), ...get(1), ...loadPair(at(0)), ...constant(4), ...OP.mul],
  ...[...constant(5), ...get(3), ...OP.mul, ...get(4), ...OP.sqrt, ...constant(6), ...OP.add, ...OP.div, ...OP.sub, ...storePair(at(0))],
]);

function assemble(functions: Readonly<Record<string, Code>>): Uint8Array<ArrayBuffer> {
  const section = (id: number, items: readonly Code[]): number[] => {
    const content = [...leb(items.length), ...items.flat()];
    return [id, ...leb(content.length), ...content];
  };
  const text = (name: string): number[] => [name.length, ...new TextEncoder().encode(name)];
  const bodies = Object.values(functions).map((code) => {
    const body = [2, 1, 0x7f, 3, 0x7b, ...code, 0x0b]; // locals: one i32, three vectors
    return [...leb(body.length), ...body];
  });
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
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
  let [a = 0, b = 0, c = 0, d = 0] = constants;
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

/** m = β1·m + share1·g, v = β2·v + share2·g², values = values·kept − stepSize·m / (√v + ε). */
export function adamWLoop(
  { values, first, second, gradient }: Readonly<Record<'values' | 'first' | 'second' | 'gradient', Float32Array>>,
  { beta1, share1, beta2, share2, kept, stepSize, epsilon }: AdamWFactors,
): void {
  constants.set([beta1, share1, beta2, share2, kept, stepSize, epsilon]);
  through([values, first, second, gradient], 3, 'adamW');
}
