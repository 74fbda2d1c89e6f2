// Long tasks: two or three products at once, some of which only item pages tell apart. `attributes` asks for two things by where they are
// made, `comparison` for the one with the longest warranty below a price and for another by its country, `basket` for three things under
// a budget that only the cheapest two leave room for. Each text determines one set of products, all of one split. `countries` are baskets of
// as many things as a setting says, all by where they are made, with a level for each number of things: the cold start's finer curriculum.

import { Random } from '../../base/random.ts';
import type { Split } from '../../base/vocabulary.ts';
import type { Catalog, Product } from './catalog.ts';
import type { Details } from './details.ts';
import { LIMITS, type ShopTask } from './tasks.ts';
import { canonical, wordsOf } from './words.ts';

export const LONG_TIERS = ['attributes', 'comparison', 'basket'] as const;
type LongTier = (typeof LONG_TIERS)[number];
/** Tier of the baskets with a level for each number of things. */
export const BASKET_TIER = 'countries';

/** One product of a long task, and what singles it out among the products of its kind. */
export interface Wish {
  readonly product: Product;
  readonly by: 'country' | 'warranty' | 'price';
  /** With `warranty`: only cheaper ones count. */
  readonly limit?: number;
}

export const CARRIERS = ['User wants to buy %.', 'User is looking for %.', 'User needs %.'] as const;
const WORDINGS: Readonly<Record<Split, number>> = { train: 3, validation: 2, test: 2 };
const BASKETS = 8;
/** Draws of partners before a product goes without a task. */
const ATTEMPTS = 60;
const FEWEST_COMPARED = 3;
/** Budgets are round, so that no split has prices in its texts that training has not. */
const ROUND = 10;
const LARGEST_BUDGET = 400;

export const kindOf = ({ noun }: Product): string => wordsOf(noun).join(' ');
const total = (products: readonly Product[]): number => products.reduce((sum, { price }) => sum + price, 0);

interface Plan {
  readonly wishes: readonly Wish[];
  readonly text: string;
  /** The same by wish. */
  readonly texts: readonly string[];
}

export function longTasks(catalog: Catalog, details: ReadonlyMap<number, Details>): ShopTask[] {
  const maker = new TaskMaker(catalog, details);
  return catalog.products.flatMap((product) => LONG_TIERS.flatMap((tier) => maker.tasks(product, tier)));
}

/** Baskets of `size` things by country. Nothing wanted is the first of its kind on the shelf, so buying the first result never helps. */
export function basketTasks(catalog: Catalog, details: ReadonlyMap<number, Details>, size: number): ShopTask[] {
  const maker = new TaskMaker(catalog, details);
  return catalog.products.flatMap((product) => maker.baskets(product, size));
}

/** What is wanted of a basket at a level: the first thing, the first two, … */
export function atLevel(task: ShopTask, level: number): ShopTask {
  const { wishes = [], texts = [] } = task;
  const kept = wishes.slice(0, level + 1);
  if (kept.length === wishes.length) return task;
  const kinds = kept.map(({ product }) => kindOf(product));
  return {
    ...task,
    instruction: task.instruction.replace(texts.join(' and '), () => texts.slice(0, kept.length).join(' and ')),
    wanted: kinds.join(' '),
    words: task.words.slice(0, kinds.flatMap((kind) => kind.split(' ')).length),
    wishes: kept,
  };
}

class TaskMaker {
  readonly #catalog: Catalog;
  readonly #details: ReadonlyMap<number, Details>;
  readonly #kinds: ReadonlyMap<string, readonly Product[]>;
  /** Products that their country singles out, and those that are the cheapest of their kind. */
  readonly #byCountry: readonly Product[];
  readonly #cheapest: readonly Product[];
  /** By country, without those that stand first of their kind on the shelf. */
  readonly #hidden: readonly Product[];

  constructor(catalog: Catalog, details: ReadonlyMap<number, Details>) {
    this.#catalog = catalog;
    this.#details = details;
    this.#kinds = Map.groupBy(catalog.products, kindOf);
    this.#byCountry = catalog.products.filter((product) => this.#country(product) !== undefined);
    this.#cheapest = catalog.products.filter((product) => this.#gap(product) > 0);
    this.#hidden = this.#byCountry.filter((product) => this.#rivals(product).some(({ shelf }) => shelf < product.shelf));
  }

  /** The baskets that a product begins. */
  baskets(first: Product, size: number): ShopTask[] {
    if (!this.#hidden.includes(first)) return [];
    const random = Random.from('shop-baskets', BASKET_TIER, first.id);
    const plans = new Map<string, Plan>();
    for (let attempt = 0; attempt < ATTEMPTS && plans.size < BASKETS; attempt++) {
      const chosen = [first];
      for (let next = this.#partner(chosen, random, this.#hidden); next && chosen.length < size;) {
        chosen.push(next);
        next = this.#partner(chosen, random, this.#hidden);
      }
      const plan = this.#all(
        chosen.map((product) => ({ product, by: 'country' })),
        (texts) => texts.join(' and '),
      );
      if (plan && chosen.length === size && this.#apart(chosen)) plans.set(plan.text, plan);
    }
    return this.#made(first, BASKET_TIER, [...plans.values()], random).map((task) => ({ ...task, level: 0 }));
  }

  /** The tasks of a tier that a product begins. */
  tasks(first: Product, tier: LongTier): ShopTask[] {
    const random = Random.from('shop-baskets', tier, first.id);
    const plans = new Map<string, Plan>();
    for (let attempt = 0; attempt < ATTEMPTS && plans.size < WORDINGS[first.split]; attempt++) {
      const plan = this.#plan(tier, first, random);
      if (plan) plans.set(plan.text, plan);
    }
    return this.#made(first, tier, [...plans.values()], random);
  }

  #made(first: Product, tier: string, plans: readonly Plan[], random: Random): ShopTask[] {
    return plans.map(({ wishes, text, texts }, number): ShopTask => {
      const products = wishes.map(({ product }) => product);
      const ids = products.map(({ id }) => id).toSorted((a, b) => a - b);
      return {
        id: `${ids.join('+')}-${tier}-${number + 1}`,
        split: first.split,
        instruction: (CARRIERS[random.below(CARRIERS.length)] ?? CARRIERS[0]).replace('%', () => text),
        category: first.category,
        tier,
        target: ids.join('+'),
        level: Math.max(...products.map(({ level }) => level)),
        product: first,
        wanted: products.map(kindOf).join(' '),
        words: canonical(products.map(kindOf).join(' '), this.#catalog.synonyms),
        constraint: undefined,
        wishes,
        texts,
      };
    });
  }

  #plan(tier: LongTier, first: Product, random: Random): Plan | undefined {
    switch (tier) {
      case 'attributes': {
        const other = this.#partner([first], random, this.#byCountry);
        if (!other) return undefined;
        const wishes: Wish[] = [first, other].map((product) => ({ product, by: 'country' }));
        return this.#all(wishes, (texts) => texts.join(' and '));
      }
      case 'comparison': {
        const limits = LIMITS.filter((limit) => this.#hasLongest(first, limit));
        const limit = limits[random.below(Math.max(1, limits.length))];
        const other = limit === undefined ? undefined : this.#partner([first], random, this.#byCountry);
        if (!other || limit === undefined) return undefined;
        return this.#all(
          [
            { product: first, by: 'warranty', limit },
            { product: other, by: 'country' },
          ],
          (texts) => texts.join(' and '),
        );
      }
      case 'basket':
        return this.#basket(first, random);
    }
  }

  /** One thing by its country, and the cheapest two of their kinds, because the budget leaves room for no others. */
  #basket(first: Product, random: Random): Plan | undefined {
    const second = this.#partner([first], random, this.#cheapest);
    const third = second && this.#partner([first, second], random, this.#cheapest);
    if (!second || !third) return undefined;
    const sum = total([first, second, third]);
    const budget = Math.ceil(sum / ROUND) * ROUND;
    if (budget >= sum + Math.min(this.#gap(second), this.#gap(third)) || budget > LARGEST_BUDGET) return undefined;
    const wishes: Wish[] = [
      { product: second, by: 'price' },
      { product: third, by: 'price' },
      { product: first, by: 'country' },
    ];
    return this.#all(wishes, ([a = '', b = '', c = '']) => `${a} and ${b} and ${c} for at most $${budget} together`);
  }

  #all(wishes: readonly Wish[], join: (texts: string[]) => string): Plan | undefined {
    const texts = wishes.flatMap((wish) => this.#text(wish) ?? []);
    return texts.length < wishes.length ? undefined : { wishes, texts, text: join(texts) };
  }

  #text({ product, by, limit }: Wish): string | undefined {
    const kind = kindOf(product);
    if (by === 'price') return kind;
    if (by === 'warranty') return `${kind} with longest warranty under $${limit}`;
    const country = this.#country(product);
    return country && `${kind} made in ${country}`;
  }

  /** Another product of the same split and another kind, no harder than the first where there is one. */
  #partner(chosen: readonly Product[], random: Random, from: readonly Product[]): Product | undefined {
    const [first] = chosen;
    const kinds = new Set(chosen.map(({ noun }) => noun));
    const others = from.filter((product) => product.split === first?.split && !kinds.has(product.noun));
    const easy = others.filter(({ level }) => level <= (first?.level ?? 0));
    const pool = easy.length > 0 ? easy : others;
    return pool[random.below(Math.max(1, pool.length))];
  }

  /** Undefined where another product of the kind is made there too. */
  #country(product: Product): string | undefined {
    const country = this.#details.get(product.id)?.country;
    const same = this.#rivals(product).filter(({ id }) => this.#details.get(id)?.country === country);
    return same.length === 1 ? country : undefined;
  }

  /** Nothing that could be taken for one of them is made where another of them is: a page either matches or does not. */
  #apart(chosen: readonly Product[]): boolean {
    const countries = new Set(chosen.map(({ id }) => this.#details.get(id)?.country));
    const rivals = chosen.flatMap((product) => this.#rivals(product).filter(({ id }) => id !== product.id));
    return countries.size === chosen.length && !rivals.some(({ id }) => countries.has(this.#details.get(id)?.country));
  }

  #hasLongest(product: Product, limit: number): boolean {
    const rivals = this.#rivals(product);
    if (product.price >= limit || rivals.some(({ price }) => price === limit)) return false;
    const below = rivals.filter(({ price }) => price < limit);
    const longest = Math.max(...below.map(({ id }) => this.#details.get(id)?.years ?? 0));
    return below.length >= FEWEST_COMPARED && this.#details.get(product.id)?.years === longest;
  }

  /** How much more the next cheapest of its kind costs; 0 or less where it is not the cheapest. */
  #gap(product: Product): number {
    const others = this.#rivals(product).filter(({ id }) => id !== product.id);
    return Math.min(...others.map(({ price }) => price)) - product.price;
  }

  #rivals(product: Product): readonly Product[] {
    return this.#kinds.get(kindOf(product)) ?? [];
  }
}
