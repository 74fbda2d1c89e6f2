// What customers want: one goal for each combination of option values of every product with an instruction, in the
// original's order (shuffled by Python with seed 233), so that goal numbers mean the same everywhere. Goals are
// unfolded when asked for: the full set has millions. Price limits are drawn from our seed, because the original
// draws them anew in every run.

import { Random } from '../../base/random.ts';
import type { Product } from './product.ts';
import { shuffledOrder } from './python.ts';
import { DataError } from './search/records.ts';
import type { Catalog } from './search/source.ts';

/** What an option of a goal is compared by: a name and a value, or (human goals) a value alone. */
export type GoalOption = readonly [name: string, value: string];

export interface Goal {
  /** Its place in the original's list: 0 – 499 test, 500 – 1499 validation, the rest training. */
  readonly number: number;
  readonly document: number;
  readonly attributes: readonly string[];
  readonly options: readonly GoalOption[];
  /** Without the price limit. */
  readonly wish: string;
  readonly limit: number;
}

/** All goals of a catalog, numbered as in the original. */
export interface GoalList {
  readonly size: number;
  goal(number: number): Goal;
  /** The product that a goal is after, without unfolding the goal. */
  documentOf(number: number): number;
  /** All goals with this wish, whatever their price limit, lowest number first. */
  find(wish: string): number[];
}

/** The limit that is none. */
export const NO_LIMIT = 1_000_000;

export const SHUFFLE_SEED = 233;
const DEAREST_LIMIT = 990;
/** Their order is held in memory, four bytes each. */
const MOST_GOALS = 100_000_000;

export class Goals implements GoalList {
  readonly size: number;
  readonly #catalog: Catalog;
  readonly #seed: number;
  readonly #order: Int32Array;
  /** Products with goals, and the number of the first goal of each before shuffling. */
  readonly #documents: readonly number[];
  readonly #firsts: Float64Array;
  #inverse: Int32Array | undefined;
  #byInstruction: Map<string, number[]> | undefined;

  constructor(catalog: Catalog, seed: number) {
    this.#catalog = catalog;
    this.#seed = seed;
    const documents: number[] = [];
    for (let document = 0; document < catalog.size; document++) if ((catalog.goalCounts[document] ?? 0) > 0) documents.push(document);
    this.#documents = documents;
    this.#firsts = new Float64Array(documents.length + 1);
    for (const [i, document] of documents.entries()) this.#firsts[i + 1] = (this.#firsts[i] ?? 0) + (catalog.goalCounts[document] ?? 0);
    this.size = this.#firsts[documents.length] ?? 0;
    if (this.size === 0)
      throw new DataError('The catalog gives no goals: no product has an instruction', 'Take both files from the same set.');
    if (this.size > MOST_GOALS) throw tooMany(catalog, documents, this.size);
    this.#order = shuffledOrder(this.size, SHUFFLE_SEED);
  }

  goal(number: number): Goal {
    const unshuffled = this.#order[number];
    if (unshuffled === undefined) throw new RangeError(`There is no goal ${number}: this catalog gives ${this.size}`);
    const place = this.#place(unshuffled);
    const document = this.#documents[place] ?? 0;
    const product = this.#catalog.product(document);
    const options = combination(product, unshuffled - (this.#firsts[place] ?? 0));
    const wish = (product.instruction ?? '') + optionText(options);
    return { number, document, attributes: product.wanted, options, wish, limit: priceLimit(product, this.#seed) };
  }

  documentOf(number: number): number {
    return this.#documents[this.#place(this.#order[number] ?? 0)] ?? 0;
  }

  find(wish: string): number[] {
    const wanted = plain(wish);
    const places = new Set<number>();
    for (let end = wanted.length; end > 0; end = wanted.lastIndexOf(' with ', end - 1)) {
      for (const place of this.#instructions().get(wanted.slice(0, end)) ?? []) places.add(place);
    }
    this.#inverse ??= inverseOf(this.#order);
    const found: number[] = [];
    for (const place of places) {
      for (let unshuffled = this.#firsts[place] ?? 0; unshuffled < (this.#firsts[place + 1] ?? 0); unshuffled++) {
        const number = this.#inverse[unshuffled] ?? 0;
        if (plain(this.goal(number).wish) === wanted) found.push(number);
      }
    }
    return found.sort((a, b) => a - b);
  }

  #instructions(): Map<string, number[]> {
    if (this.#byInstruction === undefined) {
      this.#byInstruction = new Map();
      for (const [place, document] of this.#documents.entries()) {
        const key = plain(this.#catalog.product(document).instruction ?? '');
        const same = this.#byInstruction.get(key);
        if (same) same.push(place);
        else this.#byInstruction.set(key, [place]);
      }
    }
    return this.#byInstruction;
  }

  #place(unshuffled: number): number {
    let low = 0;
    let high = this.#documents.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#firsts[middle] ?? 0) <= unshuffled) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function tooMany(catalog: Catalog, documents: readonly number[], size: number): DataError {
  const most = documents.reduce((a, b) => ((catalog.goalCounts[b] ?? 0) > (catalog.goalCounts[a] ?? 0) ? b : a));
  const example = `product ${catalog.product(most).asin} alone offers ${catalog.goalCounts[most]} combinations of options`;
  return new DataError(
    `The catalog gives ${size} goals, more than ${MOST_GOALS}: ${example}`,
    'Remove its instruction, or some of its options.',
  );
}

function inverseOf(order: Int32Array): Int32Array {
  const inverse = new Int32Array(order.length);
  for (let number = 0; number < order.length; number++) inverse[order[number] ?? 0] = number;
  return inverse;
}

/** Texts are compared without regard to capitals and the length of blanks. */
export const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

/** Option names in alphabetical order, the last one varying fastest. */
function combination(product: Product, number: number): GoalOption[] {
  const groups = [...product.options].sort((a, b) => (a.name < b.name ? -1 : 1));
  const chosen: GoalOption[] = [];
  let rest = number;
  for (const { name, values } of groups.reverse()) {
    chosen.push([name, values[rest % values.length] ?? '']);
    rest = Math.floor(rest / values.length);
  }
  return chosen.reverse();
}

function optionText(options: readonly GoalOption[]): string {
  return options.length === 0 ? '' : ` with ${options.map(([name, value]) => `${name}: ${value}`).join(', and ')}`;
}

/** The price that the customer pays; a range is drawn once and for all. */
export function priceOf(product: Product, seed: number): number {
  const [low = 100, high] = product.prices;
  return high === undefined ? low : low + (high - low) * Random.from('webshop price', seed, product.asin).next();
}

/** Of the first four multiples of ten above the price two are drawn and the larger one counts. */
export function priceLimit(product: Product, seed: number): number {
  const candidates = limitsAbove(priceOf(product, seed));
  if (candidates.length < 2) return NO_LIMIT;
  const drawn = Random.from('webshop limit', seed, product.asin).shuffle(candidates).slice(0, 2);
  return Math.max(...drawn);
}

/** The first four multiples of ten above a price, up to 990. */
export function limitsAbove(price: number): number[] {
  const limits: number[] = [];
  for (let limit = 10; limit <= DEAREST_LIMIT && limits.length < 4; limit += 10) if (limit > price) limits.push(limit);
  return limits;
}

export function limitText(limit: number): string {
  return limit === NO_LIMIT ? '' : `, and price lower than ${limit.toFixed(2)} dollars`;
}
