// A tiny assembler for WebAssembly with SIMD instructions: the lab's own loops are spelled out with it, because a compiler for some fifty instructions
// would be a dependency more, and because a program made while it runs knows the sizes of the model it is for. Expressions are bytes that leave one
// value on the stack; a `Routine` collects statements and keeps count of its locals. Addresses and lengths are in bytes.

import { MOST_PAGES } from '../runtime/shared-memory.ts';

export type Code = readonly number[];

export function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 128) return [...bytes, left];
    bytes.push((left & 127) | 128);
  }
}

export function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7) {
    const byte = left & 127;
    if ((left >> 7 === 0 && !(byte & 64)) || (left >> 7 === -1 && byte & 64)) return [...bytes, byte];
    bytes.push(byte | 128);
  }
}

export const simd = (code: number): Code => [0xfd, ...leb(code)];

// ── whole numbers ────────────────────────────────────────────────────────────────────────────────────────────────

type Binary = (a: Code, b: Code) => Code;
const plain =
  (op: number): Binary =>
  (a, b) => [...a, ...b, op];

export const whole = (value: number): Code => [0x41, ...signedLeb(value)];
export const plus = plain(0x6a);
export const minus = plain(0x6b);
export const times = plain(0x6c);
export const shiftRight = (a: Code, bits: number): Code => [...a, ...whole(bits), 0x76];
export const odd = (a: Code): Code => [...a, ...whole(1), 0x71];
const place = (offset: number, align = 2): Code => [align, ...leb(offset)];
/** The whole number at an address. */
export const wholeAt = (address: Code, offset = 0): Code => [...address, 0x28, ...place(offset)];

// ── four numbers in single precision ─────────────────────────────────────────────────────────────────────────────

const both =
  (op: number): Binary =>
  (a, b) => [...a, ...b, ...simd(op)];
const one =
  (op: number) =>
  (a: Code): Code => [...a, ...simd(op)];

export const [add, sub, mul, div] = [both(228), both(229), both(230), both(231)];
/** Where the first is a NaN, it is the result. */
export const [min, max] = [both(234), both(235)];
export const [less, andNot] = [both(67), both(79)];
export const [root, nearest, negated] = [one(227), one(106), one(225)];
/** Of numbers that are in the range of whole ones. */
export const toWhole = one(0x101);
export const addWhole = both(174);
export const shiftLeft = (a: Code, bits: number): Code => [...a, ...whole(bits), ...simd(171)];
/** a · b + c, rounded once where the processor can. */
export const multiplyAdd = (a: Code, b: Code, c: Code): Code => [...a, ...b, ...c, ...simd(0x105)];

export const fourAt = (address: Code, offset = 0): Code => [...address, ...simd(0), ...place(offset)];
/** The number at an address, four times. */
export const sameAt = (address: Code, offset = 0): Code => [...address, ...simd(9), ...place(offset)];
export const four = (value: number): Code => {
  const bytes = new Uint8Array(Float32Array.of(value, value, value, value).buffer);
  return [...simd(12), ...bytes];
};
export const fourWhole = (value: number): Code => [...whole(value), ...simd(17)];

/** Four of the eight numbers of two vectors, those of the second counted from 4. */
export const chosen = (a: Code, b: Code, places: readonly [number, number, number, number]): Code => [
  ...a,
  ...b,
  ...simd(13),
  ...places.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte)),
];

// ── two numbers in double precision ──────────────────────────────────────────────────────────────────────────────

export const [add2, sub2, mul2] = [both(240), both(241), both(242)];
export const [max2, less2, equal2, nearest2] = [both(247), both(73), both(71), one(148)];
export const multiplyAdd2 = (a: Code, b: Code, c: Code): Code => [...a, ...b, ...c, ...simd(0x107)];
export const two = (value: number): Code => [...simd(12), ...new Uint8Array(Float64Array.of(value, value).buffer)];
/** Both numbers, the other way round. */
export const swapped2 = (local: Code): Code => chosen(local, local, [2, 3, 0, 1]);
/** 2ⁿ, where n stands in the lowest bits of each number. */
export const powerOfTwo2 = (n: Code): Code => [...n, ...whole(52), ...simd(203), ...two(1), ...simd(206)];

// ── routines ─────────────────────────────────────────────────────────────────────────────────────────────────────

type Kind = 'i32' | 'v128';
const KINDS: Readonly<Record<Kind, number>> = { i32: 0x7f, v128: 0x7b };

/** A variable of a routine. */
export interface Local {
  readonly index: number;
  readonly get: Code;
}

/** The first variables of a routine; it has as many parameters as it was added with. */
export type Parameters = readonly [Local, Local, Local, Local, Local, Local, Local];
const variable = (index: number): Local => ({ index, get: [0x20, ...leb(index)] });
const PARAMETERS: Parameters = [variable(0), variable(1), variable(2), variable(3), variable(4), variable(5), variable(6)];

export class Routine {
  readonly name: string;
  /** How many; all are whole numbers. */
  readonly parameters: number;
  readonly #locals: Kind[] = [];
  readonly #code: number[] = [];

  constructor(name: string, parameters: number) {
    this.name = name;
    this.parameters = parameters;
  }

  whole(value?: Code): Local {
    return this.#local('i32', value);
  }

  four(value?: Code): Local {
    return this.#local('v128', value);
  }

  #local(kind: Kind, value: Code | undefined): Local {
    const local = variable(this.parameters + this.#locals.length);
    this.#locals.push(kind);
    if (value) this.set(local, value);
    return local;
  }

  set(local: Local, value: Code): void {
    this.emit([...value, 0x21, ...leb(local.index)]);
  }

  /** Moves an address on. */
  advance(local: Local, bytes: number | Code): void {
    if (bytes !== 0) this.set(local, plus(local.get, typeof bytes === 'number' ? whole(bytes) : bytes));
  }

  put(address: Code, value: Code, offset = 0): void {
    this.emit([...address, ...value, ...simd(11), ...place(offset)]);
  }

  /** The first of four numbers alone. */
  putFirst(address: Code, value: Code, offset = 0): void {
    this.emit([...address, ...value, ...simd(0x5a), ...place(offset), 0]);
  }

  emit(code: Code): void {
    for (const byte of code) this.#code.push(byte);
  }

  /** Runs the body `count` times, at least once. */
  repeat(count: Code | number, body: () => void): void {
    if (count === 1) return body();
    const left = this.whole(typeof count === 'number' ? whole(count) : count);
    this.emit([0x03, 0x40]);
    body();
    this.emit([...minus(left.get, whole(1)), 0x22, ...leb(left.index), 0x0d, 0, 0x0b]);
  }

  when(condition: Code, yes: () => void, no: () => void = () => {}): void {
    this.emit([...condition, 0x04, 0x40]);
    yes();
    this.emit([0x05]);
    no();
    this.emit([0x0b]);
  }

  /** The body as bytes, with its locals. */
  bytes(): number[] {
    const locals = [...leb(this.#locals.length), ...this.#locals.flatMap((kind) => [1, KINDS[kind]])];
    const body = [...locals, ...this.#code, 0x0b];
    return [...leb(body.length), ...body];
  }
}

/** "\\0asm", version 1. */
export const HEADER: Code = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

export function section(id: number, items: readonly Code[]): number[] {
  const content = [...leb(items.length), ...items.flat()];
  return [id, ...leb(content.length), ...content];
}

export const text = (name: string): number[] => [name.length, ...new TextEncoder().encode(name)];

/** Routines that call each other by name, over a shared memory that is handed in as `lab.memory`. */
export class Program {
  readonly #routines: Routine[] = [];

  add(name: string, parameters: number, body: (routine: Routine, parameters: Parameters) => void): void {
    const routine = new Routine(name, parameters);
    body(routine, PARAMETERS);
    this.#routines.push(routine);
  }

  /** The call of a routine that was added before. */
  call(name: string, ...values: readonly Code[]): Code {
    const index = this.#routines.findIndex((routine) => routine.name === name);
    const found = this.#routines[index];
    if (found?.parameters !== values.length)
      throw new RangeError(`There is no routine "${name}" with ${values.length} parameters; there is ${this.#names()}`);
    return [...values.flat(), 0x10, ...leb(index)];
  }

  #names(): string {
    return this.#routines.map(({ name, parameters }) => `${name} (${parameters})`).join(', ');
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const most = Math.max(...this.#routines.map(({ parameters }) => parameters));
    const types = Array.from({ length: most + 1 }, (_, count) => [0x60, count, ...Array<number>(count).fill(KINDS.i32), 0]);
    return Uint8Array.from([
      ...HEADER,
      ...section(1, types),
      ...section(2, [[...text('lab'), ...text('memory'), 2, 3, 1, ...leb(MOST_PAGES)]]),
      ...section(
        3,
        this.#routines.map(({ parameters }) => [parameters]),
      ),
      ...section(
        7,
        this.#routines.map(({ name }, index) => [...text(name), 0, ...leb(index)]),
      ),
      ...section(
        10,
        this.#routines.map((routine) => routine.bytes()),
      ),
    ]);
  }
}
