// Goals as tasks: splits, tiers and curriculum levels, and the way from a text back to its goal.
// In the official split a task's target is the goal itself, because published figures let training ask for other
// option values of the same products; in the split by products it is the product.

import { Random } from '../../base/random.ts';
import type { Task } from '../environment.ts';
import type { Split } from '../../base/vocabulary.ts';
import { type GoalList, limitText, limitsAbove, NO_LIMIT, priceOf } from './goals.ts';
import { splitLimit } from './instruction.ts';
import type { WebShopSettings } from './settings.ts';
import type { Catalog } from './search/source.ts';

export const TIERS = ['no options', 'one option', 'two options', 'three or more options'] as const;

const TEST_GOALS = 500;
const VALIDATION_GOALS = 1000;
/** In the split by products of the full set the held-out splits are cut here. */
const HELD_OUT_GOALS = 20_000;
const TEST_SHARE = 0.2;
const VALIDATION_SHARE = 0.1;

export class Tasks {
  readonly #catalog: Catalog;
  readonly #goals: GoalList;
  readonly #settings: WebShopSettings;
  readonly #lists = new Map<Split, readonly Task[]>();
  #numbers: ReadonlyMap<Split, Iterable<number>> | undefined;

  constructor(catalog: Catalog, goals: GoalList, settings: WebShopSettings) {
    this.#catalog = catalog;
    this.#goals = goals;
    this.#settings = settings;
  }

  list(split: Split): readonly Task[] {
    let tasks = this.#lists.get(split);
    if (tasks === undefined) {
      const made: Task[] = [];
      const most = split === 'train' ? this.#settings.trainingGoals : HELD_OUT_GOALS;
      for (const number of this.#split().get(split) ?? []) {
        if (made.length === most) break;
        made.push(this.#task(number, split));
      }
      tasks = made;
      this.#lists.set(split, tasks);
    }
    return tasks;
  }

  #split(): ReadonlyMap<Split, Iterable<number>> {
    this.#numbers ??= this.#settings.split === 'official' ? officialSplit(this.#goals.size) : this.#productSplit();
    return this.#numbers;
  }

  /** Products are dealt to the splits; each split's goals stay in the original order. */
  #productSplit(): ReadonlyMap<Split, Iterable<number>> {
    const documents = new Set<number>();
    for (let number = 0; number < this.#goals.size; number++) documents.add(this.#goals.documentOf(number));
    const order = Random.from('webshop products').shuffle([...documents].sort((a, b) => a - b));
    const test = Math.floor(order.length * TEST_SHARE);
    const validation = test + Math.floor(order.length * VALIDATION_SHARE);
    const splits = new Map<number, Split>();
    for (const [i, document] of order.entries()) splits.set(document, i < test ? 'test' : i < validation ? 'validation' : 'train');
    const numbers = new Map<Split, number[]>([
      ['train', []],
      ['validation', []],
      ['test', []],
    ]);
    for (let number = 0; number < this.#goals.size; number++) {
      numbers.get(splits.get(this.#goals.documentOf(number)) ?? 'train')?.push(number);
    }
    return numbers;
  }

  #task(number: number, split: Split): Task {
    const goal = this.#goals.goal(number);
    const product = this.#catalog.product(goal.document);
    const level = Math.min(goal.options.length, TIERS.length - 1);
    const id = `goal-${number}`;
    return {
      id,
      split,
      instruction: goal.wish + limitText(goal.limit),
      category: product.category,
      tier: TIERS[level] ?? TIERS[0],
      target: this.#settings.split === 'official' ? id : product.asin,
      level,
    };
  }

  /** The task whose text this is, whatever its price limit; the limit that the text states then counts. */
  find(instruction: string): Task | undefined {
    const { text, limit } = splitLimit(instruction.replace(/^\s*Instruction:\s*/i, ''));
    const candidates = this.#goals.find(text);
    // Different products can be asked for in the same words: the stated limit shows which of them it was drawn for.
    const fitting = candidates.filter((number) => {
      const limits = limitsAbove(priceOf(this.#catalog.product(this.#goals.documentOf(number)), this.#settings.seed));
      return limit === NO_LIMIT || limits.slice(1).includes(limit);
    });
    const number = fitting[0] ?? candidates[0];
    if (number === undefined) return undefined;
    const split = (['test', 'validation'] as const).find((name) => includes(this.#split().get(name) ?? [], number)) ?? 'train';
    return { ...this.#task(number, split), instruction: text + limitText(limit) };
  }
}

/** Small catalogs keep a third of their goals, at most, for each of the held-out splits. */
function officialSplit(size: number): ReadonlyMap<Split, Iterable<number>> {
  const test = Math.min(TEST_GOALS, Math.floor(size / 3));
  const validation = test + Math.min(VALIDATION_GOALS, Math.floor(size / 3));
  return new Map<Split, Iterable<number>>([
    ['test', { [Symbol.iterator]: () => range(0, test) }],
    ['validation', { [Symbol.iterator]: () => range(test, validation) }],
    ['train', { [Symbol.iterator]: () => range(validation, size) }],
  ]);
}

function* range(from: number, to: number): Generator<number> {
  for (let number = from; number < to; number++) yield number;
}

function includes(numbers: Iterable<number>, wanted: number): boolean {
  for (const number of numbers) if (number === wanted) return true;
  return false;
}
