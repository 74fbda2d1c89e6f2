// The arithmetic of a draw (softmax.as.ts) over a memory of its own. As a plain loop it took nine microseconds for 512 tokens, which at 64 rows is a fifth of the time between
// two tokens; a language model has a hundred times as many.

import { instantiate, kernelModule } from '../../engine/kernels/load.ts';
import { sharedMemory } from '../../engine/runtime/shared-memory.ts';

const BYTES = Float64Array.BYTES_PER_ELEMENT;
/** Scores that are computed side by side. */
export const GROUP = 8;
/** Where they begin: the kernel's constants come first. */
const FIRST = 4096;

export class Softmax {
  /** What is to be drawn from; fill the first `count` and call `run`. */
  readonly scores: Float64Array;
  readonly weights: Float64Array;
  /** The largest weight of every group of tokens, twice each. */
  readonly largest: Float64Array;
  readonly #results: Float64Array;
  readonly #weigh: (count: number) => void;

  /** For up to so many tokens. */
  constructor(most: number) {
    const count = Math.max(1, Math.ceil(most / GROUP)) * GROUP;
    const pairs = (2 * count) / GROUP;
    const [weights, largest] = [FIRST + count * BYTES, FIRST + 2 * count * BYTES];
    const results = largest + pairs * BYTES;
    const memory = sharedMemory(results + 6 * BYTES);
    const weigh = instantiate(kernelModule('softmax'), memory)('weigh');
    this.#weigh = (used) => weigh(FIRST, used, weights, largest, results);
    this.scores = new Float64Array(memory.buffer, FIRST, count);
    this.weights = new Float64Array(memory.buffer, weights, count);
    this.largest = new Float64Array(memory.buffer, largest, pairs);
    this.#results = new Float64Array(memory.buffer, results, 6);
  }

  /** Makes weights of the first `count` scores. A NaN shows in the sums. */
  run(count: number): { most: number; total: number; moment: number } {
    const used = Math.ceil(count / GROUP) * GROUP;
    this.scores.fill(Number.NEGATIVE_INFINITY, count, used);
    this.#weigh(used);
    const results = this.#results;
    return { most: results[0]!, total: results[2]! + results[3]!, moment: results[4]! + results[5]! };
  }
}
