// Matrix products of the decoder. The weights are rearranged once, when a game begins, into panels of eight outputs, so that they are read in one go. Each output is one
// sum in the order of the inputs, whether its row is computed alone or with another: a row's numbers do not depend on its company.
// Two rows by sixteen outputs at a time keep both multipliers busy: 50 GFLOPS on one thread of an AMD EPYC (AVX2), the most that four numbers at once can give.

import { add, four, fourAt, multiplyAdd, odd, plus, sameAt, shiftRight, times, whole } from '../../engine/kernels/wasm.ts';
import type { Code, Program, Routine } from '../../engine/kernels/wasm.ts';
import { at } from '../../base/indexed.ts';

const PANEL = 8;
const BLOCK = 2 * PANEL;
const BYTES = Float32Array.BYTES_PER_ELEMENT;
/** Inputs per turn of the loop. */
const TURN = 4;

export const roundUp = (size: number, step: number): number => Math.ceil(size / step) * step;
/** Numbers from one row of results to the next. */
export const stride = (outputs: number): number => roundUp(outputs, BLOCK);

export interface ProductShape {
  /** Numbers of a row that are multiplied: a multiple of 4. */
  readonly inputs: number;
  readonly outputs: number;
  /** Numbers from one row to the next. */
  readonly from: number;
  readonly to: number;
  /** Whether results are added to what is there. */
  readonly adds?: boolean;
}

export const packedLength = ({ inputs, outputs }: Pick<ProductShape, 'inputs' | 'outputs'>): number => stride(outputs) * inputs;

/** Puts a matrix [rows, columns] into panels, from the output `first` on. */
export function pack(packed: Float32Array, matrix: Float32Array, columns: number, inputs: number, first = 0): void {
  const rows = matrix.length / columns;
  for (let row = 0; row < rows; row++) {
    const output = first + row;
    let to = Math.floor(output / PANEL) * PANEL * inputs + (output % PANEL);
    const start = row * columns;
    for (let i = 0; i < columns; i++, to += PANEL) packed[to] = matrix[start + i]!;
  }
}

/** The routine `name`(rows, packed weights, results, count). */
export function addProduct(program: Program, name: string, shape: ProductShape): void {
  addTile(program, `${name}.pairs`, shape, 2);
  addTile(program, `${name}.single`, shape, 1);
  program.add(name, 4, (r, [x, weights, y, count]) => {
    const pairs = r.whole(shiftRight(count.get, 1));
    r.when(pairs.get, () => r.emit(program.call(`${name}.pairs`, x.get, weights.get, y.get, pairs.get)));
    r.when(odd(count.get), () => {
      const row = (start: Code, numbers: number): Code => plus(start, times(pairs.get, whole(2 * numbers * BYTES)));
      r.emit(program.call(`${name}.single`, row(x.get, shape.from), weights.get, row(y.get, shape.to), whole(1)));
    });
  });
}

/** Sixteen outputs of `rows` rows at a time; `groups` of so many rows. */
function addTile(program: Program, name: string, { inputs, outputs, from, to, adds = false }: ProductShape, rows: number): void {
  program.add(name, 4, (r, [x, weights, y, groups]) => {
    const [row, result, weight, input] = [r.whole(), r.whole(), r.whole(), r.whole()];
    const parts = [0, 1, 2, 3].map((part) => ({ part, numbers: r.four(), offset: Math.floor(part / 2) * PANEL * inputs + 4 * (part % 2) }));
    const sums = Array.from({ length: rows }, () => parts.map(() => r.four()));
    const same = r.four();
    const step = (turn: number): void => {
      for (const { numbers, offset } of parts) r.set(numbers, fourAt(weight.get, (offset + PANEL * turn) * BYTES));
      for (const [i, own] of sums.entries()) {
        r.set(same, sameAt(input.get, (i * from + turn) * BYTES));
        for (const [part, sum] of own.entries()) r.set(sum, multiplyAdd(same.get, at(parts, part).numbers.get, sum.get));
      }
    };
    r.repeat(stride(outputs) / BLOCK, () => {
      r.set(row, x.get);
      r.set(result, y.get);
      r.repeat(groups.get, () => {
        for (const sum of sums.flat()) r.set(sum, four(0));
        r.set(weight, weights.get);
        r.set(input, row.get);
        r.repeat(inputs / TURN, () => {
          for (let turn = 0; turn < TURN; turn++) step(turn);
          r.advance(weight, TURN * PANEL * BYTES);
          r.advance(input, TURN * BYTES);
        });
        for (const [i, own] of sums.entries())
          store(
            r,
            result.get,
            own.map(({ get }) => get),
            i * to * BYTES,
            adds,
          );
        r.advance(row, rows * from * BYTES);
        r.advance(result, rows * to * BYTES);
      });
      r.advance(weights, BLOCK * inputs * BYTES);
      r.advance(y, BLOCK * BYTES);
    });
  });
}

function store(r: Routine, address: Code, sums: readonly Code[], offset: number, adds: boolean): void {
  for (const [part, sum] of sums.entries()) {
    const place = offset + 16 * part;
    r.put(address, adds ? add(fourAt(address, place), sum) : sum, place);
  }
}
