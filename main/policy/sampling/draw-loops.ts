// The arithmetic of a draw as WebAssembly: e to the power of every score less the largest, in double precision, two at a time, with their sums. As a plain loop it took
// nine microseconds for 512 tokens, which at 64 rows is a fifth of the time between two tokens. Exponentials are exact to the last digit or two. A language model has a hundred
// times as many: four pairs are computed side by side, because each waits for its own series, and the largest weight of every eight is kept, so that the likeliest are found quickly.

import { at } from '../../base/indexed.ts';
import * as w from '../../engine/kernels/wasm.ts';
import type { Code, Local, Routine } from '../../engine/kernels/wasm.ts';
import { sharedMemory } from '../../engine/runtime/shared-memory.ts';

const BYTES = Float64Array.BYTES_PER_ELEMENT;
/** Scores that are computed side by side. */
export const GROUP = 8;
const PAIRS = GROUP / 2;
/** Results come first: the largest score, the sum of weights, the sum of weight · score, twice each because they are computed two at a time. */
const RESULTS = 48;
/** e to a power below this is taken for 0. */
const LEAST = -708;

/** 1/n! for n = 13 … 0: the series is exact to the last digit for |x| ≤ ln 2 / 2. */
const SERIES = Array.from({ length: 14 }, (_, i) => 13 - i).map(
  (n) => 1 / Array.from({ length: n }, (_, i) => i + 1).reduce((a, b) => a * b, 1),
);
/** Added to a whole number it stands in the lowest bits. */
const WHOLE = 2 ** 52 + 2 ** 51;

/** −ln 2 in two parts, the first of 32 bits: its product is exact. */
const LN2_FIRST = -0.69314718036912381649;
const LN2_REST = -1.90821492927058770002e-10;
/** What the series needs lies in memory, twice each: one instruction fetches it, where three would make it anew. */
const KNOWN = [LEAST, Math.LOG2E, LN2_FIRST, LN2_REST, WHOLE, ...SERIES];
const FIRST = RESULTS + 16 * KNOWN.length;
const known = (value: number): Code => w.fourAt(w.whole(RESULTS + 16 * KNOWN.indexOf(value)));

/** eˣ of the numbers of locals, which are overwritten: step by step for all of them. */
function exponentials(r: Routine, all: readonly { readonly x: Local; readonly power: Local; readonly tiny: Local }[]): void {
  const each = (step: (x: Local, power: Local, tiny: Local) => void): void => {
    for (const { x, power, tiny } of all) step(x, power, tiny);
  };
  each((x, _power, tiny) => r.set(tiny, w.less2(x.get, known(LEAST))));
  each((x) => r.set(x, w.max2(x.get, known(LEAST))));
  each((x, power) => r.set(power, w.nearest2(w.mul2(x.get, known(Math.LOG2E)))));
  each((x, power) => r.set(x, w.multiplyAdd2(power.get, known(LN2_FIRST), x.get)));
  each((x, power) => r.set(x, w.multiplyAdd2(power.get, known(LN2_REST), x.get)));
  const [first = 0, ...others] = SERIES;
  const sums = all.map(() => r.four(known(first)));
  for (const term of others)
    for (const [i, { x }] of all.entries()) {
      const sum = at(sums, i);
      r.set(sum, w.multiplyAdd2(sum.get, x.get, known(term)));
    }
  for (const [i, { x, power, tiny }] of all.entries())
    r.set(x, w.andNot(w.mul2(at(sums, i).get, w.powerOfTwo2(w.add2(power.get, known(WHOLE)))), tiny.get));
}

/** `count`: a multiple of the group. Weights lie behind the scores, and behind them the largest of each group, twice. */
function program(count: number): Uint8Array<ArrayBuffer> {
  const made = new w.Program();
  made.add('run', 1, (r, [groups]) => {
    const place = r.whole(w.whole(0));
    const most = r.four(w.two(Number.NEGATIVE_INFINITY));
    const [total, moment] = [r.four(w.two(0)), r.four(w.two(0))];
    const weights = FIRST + count * BYTES;
    const largest = r.whole(w.whole(weights + count * BYTES));
    const pairs = Array.from({ length: PAIRS }, () => ({ score: r.four(), x: r.four(), power: r.four(), tiny: r.four() }));
    const four = [most, r.four(most.get), r.four(most.get), r.four(most.get)];
    r.repeat(groups.get, () => {
      for (const [i, own] of four.entries()) r.set(own, w.max2(own.get, w.fourAt(place.get, FIRST + 16 * i)));
      r.advance(place, GROUP * BYTES);
    });
    for (const own of four.slice(1)) r.set(most, w.max2(most.get, own.get));
    r.set(most, w.max2(most.get, w.swapped2(most.get)));
    r.set(place, w.whole(0));
    r.repeat(groups.get, () => {
      for (const [i, { score, x }] of pairs.entries()) {
        r.set(score, w.fourAt(place.get, FIRST + 16 * i));
        r.set(x, w.sub2(score.get, most.get));
      }
      exponentials(r, pairs);
      for (const [i, { score, x }] of pairs.entries()) {
        r.put(place.get, x.get, weights + 16 * i);
        r.set(total, w.add2(total.get, x.get));
        // A score of −∞ has the weight 0, and their product would be none.
        r.set(moment, w.add2(moment.get, w.andNot(w.mul2(x.get, score.get), w.equal2(x.get, w.two(0)))));
      }
      const best = at(pairs, 0).score;
      r.set(
        best,
        pairs.map(({ x }) => x.get).reduce((a, b) => w.max2(a, b)),
      );
      r.put(largest.get, w.max2(best.get, w.swapped2(best.get)));
      r.advance(place, GROUP * BYTES);
      r.advance(largest, 16);
    });
    for (const [i, result] of [most, total, moment].entries()) r.put(w.whole(16 * i), result.get);
  });
  return made.bytes();
}

/** By number of scores: a program is compiled once, and gets faster while it is used. */
const programs = new Map<number, WebAssembly.Module>();

function compiled(count: number): WebAssembly.Module {
  const made = programs.get(count) ?? new WebAssembly.Module(program(count));
  programs.set(count, made);
  return made;
}

export class DrawLoops {
  /** What is to be drawn from; fill the first `count` and call `soften`. */
  readonly scores: Float64Array;
  readonly weights: Float64Array;
  /** The largest weight of every group of tokens, twice each. */
  readonly largest: Float64Array;
  readonly #results: Float64Array;
  readonly #run: (groups: number) => void;

  /** For up to so many tokens. */
  constructor(most: number) {
    const count = Math.max(1, Math.ceil(most / GROUP)) * GROUP;
    const behind = FIRST + 2 * count * BYTES;
    const pairs = (2 * count) / GROUP;
    const memory = sharedMemory(behind + pairs * BYTES);
    const { run } = new WebAssembly.Instance(compiled(count), { lab: { memory } }).exports;
    if (typeof run !== 'function') throw new TypeError('The program has no routine "run"');
    this.#run = (groups) => {
      run(groups);
    };
    new Float64Array(memory.buffer, RESULTS).set(KNOWN.flatMap((value) => [value, value]));
    this.#results = new Float64Array(memory.buffer, 0, 6);
    this.scores = new Float64Array(memory.buffer, FIRST, count);
    this.weights = new Float64Array(memory.buffer, FIRST + count * BYTES, count);
    this.largest = new Float64Array(memory.buffer, behind, pairs);
  }

  /** Makes weights of the first `count` scores. A NaN shows in the sums. */
  soften(count: number): { most: number; total: number; moment: number } {
    const groups = Math.ceil(count / GROUP);
    this.scores.fill(Number.NEGATIVE_INFINITY, count, groups * GROUP);
    this.#run(groups);
    const results = this.#results;
    return { most: results[0]!, total: results[2]! + results[3]!, moment: results[4]! + results[5]! };
  }
}
