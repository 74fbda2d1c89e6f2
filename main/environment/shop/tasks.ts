// The shop's tasks, made from its catalog: for every product several wordings in three tiers. `plain` names the product,
// `paraphrased` says it in synonyms, `constrained` is for products that share their name with others: a price limit or a
// category singles one of them out. A task's text always determines exactly one product.

import { Random } from '../../base/random.ts';
import type { Task } from '../environment.ts';
import type { Split } from '../../base/vocabulary.ts';
import type { Wish } from './baskets.ts';
import type { Catalog, Product } from './catalog.ts';
import { canonical, wordsOf } from './words.ts';

export const TIERS = ['plain', 'paraphrased', 'constrained'] as const;

export type Constraint =
  | { readonly kind: 'below'; readonly limit: number }
  | { readonly kind: 'above'; readonly limit: number }
  | { readonly kind: 'category'; readonly category: string };

/** A task with what its text means. */
export interface ShopTask extends Task {
  readonly product: Product;
  /** The wanted name as the task says it, and its canonical words. */
  readonly wanted: string;
  readonly words: readonly string[];
  readonly constraint: Constraint | undefined;
  /** Of a long task: every product that has to be bought (baskets.ts). */
  readonly wishes?: readonly Wish[];
  /** … and how its text says each of them. */
  readonly texts?: readonly string[];
  /** Of a basket with shelves of its own: where the products of its kinds are made, by id (restocked.ts). */
  readonly countries?: ReadonlyMap<number, string>;
}

/** All products that a task is after. */
export const targetsOf = ({ product, wishes }: ShopTask): readonly Product[] => wishes?.map((wish) => wish.product) ?? [product];

/** The limits that tasks name; they lie between the price bands of the built-in catalog. */
export const LIMITS = [20, 35, 50, 80, 120] as const;

const CARRIERS: Readonly<Record<(typeof TIERS)[number], readonly string[]>> = {
  plain: ['User wants to buy %.', 'User is looking for %.'],
  paraphrased: ['User needs %.', 'User would like %.', 'User wants to buy %.', 'User is looking for %.'],
  constrained: ['User wants to buy %.', 'User is looking for %.', 'User needs %.'],
};

/** How many wordings of each tier a product gets at most. */
const WORDINGS: Readonly<Record<Split, Readonly<Record<(typeof TIERS)[number], number>>>> = {
  train: { plain: 2, paraphrased: 8, constrained: 8 },
  validation: { plain: 2, paraphrased: 4, constrained: 5 },
  test: { plain: 2, paraphrased: 4, constrained: 5 },
};

export function satisfies(product: Product, constraint: Constraint | undefined): boolean {
  switch (constraint?.kind) {
    case undefined:
      return true;
    case 'below':
      return product.price < constraint.limit;
    case 'above':
      return product.price > constraint.limit;
    case 'category':
      return product.category === constraint.category;
  }
}

/** Products with the same key have the same name, word for word: no more, no fewer. */
export function nameKey(product: Product, catalog: Catalog): string {
  return canonical(product.name, catalog.synonyms).sort().join(' ');
}

export function makeTasks(catalog: Catalog): ShopTask[] {
  const sameName = new Map<string, Product[]>();
  for (const product of catalog.products) {
    const key = nameKey(product, catalog);
    sameName.set(key, [...(sameName.get(key) ?? []), product]);
  }
  const tasks: ShopTask[] = [];
  for (const product of catalog.products) {
    const random = Random.from('shop-tasks', product.id);
    const rivals = sameName.get(nameKey(product, catalog)) ?? [];
    const add = (tier: (typeof TIERS)[number], wordings: readonly Wording[]): void => {
      wordings.slice(0, WORDINGS[product.split][tier]).forEach(({ carrier, wanted, suffix, constraint }, number) => {
        tasks.push({
          id: `${product.id}-${tier}-${number + 1}`,
          split: product.split,
          instruction: carrier.replace('%', () => wanted + suffix),
          category: product.category,
          tier,
          target: String(product.id),
          level: product.level,
          product,
          wanted,
          words: canonical(wanted, catalog.synonyms),
          constraint,
        });
      });
    };
    if (rivals.length === 1) {
      add(
        'plain',
        CARRIERS.plain.map((carrier) => ({ carrier, wanted: product.name.toLowerCase(), suffix: '', constraint: undefined })),
      );
      add('paraphrased', paraphrases(product, catalog, random));
    } else {
      add('constrained', constrained(product, rivals, random));
    }
  }
  return tasks;
}

/** The product that a task of this id is about: `12-plain-1` and `12-constrained-2` are both about 12. */
export function productOfTask({ id, tier }: { readonly id: string; readonly tier: string }): string {
  const [product = id] = id.split(`-${tier}-`);
  return product;
}

interface Wording {
  readonly carrier: string;
  readonly wanted: string;
  readonly suffix: string;
  readonly constraint: Constraint | undefined;
}

/** The ways to say the name with synonyms, in random order: by turns with all the synonyms there are and with some of them. */
function paraphrases(product: Product, catalog: Catalog, random: Random): Wording[] {
  const nounLength = wordsOf(product.noun).length;
  const words = wordsOf(product.name);
  const units = [...words.slice(0, -nounLength), words.slice(-nounLength).join(' ')];
  const sayings = Object.entries(catalog.sayings);
  let ways: { text: string; replaced: number }[] = [{ text: '', replaced: 0 }];
  for (const unit of units) {
    const said = [unit, ...sayings.filter(([, means]) => means.toLowerCase() === unit).map(([say]) => say)];
    ways = ways.flatMap(({ text, replaced }) =>
      said.map((word) => ({ text: `${text} ${word}`.trim(), replaced: replaced + (word === unit ? 0 : 1) })),
    );
  }
  const most = Math.max(...ways.map(({ replaced }) => replaced));
  const wordings = (chosen: typeof ways): Wording[] =>
    random.shuffle(
      chosen.flatMap(({ text }) => CARRIERS.paraphrased.map((carrier) => ({ carrier, wanted: text, suffix: '', constraint: undefined }))),
    );
  const all = wordings(ways.filter(({ replaced }) => replaced === most && most > 0));
  const some = wordings(ways.filter(({ replaced }) => replaced > 0 && replaced < most));
  return all.flatMap((wording, index) => [wording, ...some.slice(index, index + 1)]);
}

/** Every constraint that leaves only this product among the ones of its name, in random order. */
function constrained(product: Product, rivals: readonly Product[], random: Random): Wording[] {
  const candidates: { constraint: Constraint; suffixes: string[] }[] = [
    ...LIMITS.flatMap((limit) => [
      { constraint: { kind: 'below', limit } as const, suffixes: [` under $${limit}`, ` for at most $${limit}`] },
      { constraint: { kind: 'above', limit } as const, suffixes: [` over $${limit}`, ` for at least $${limit}`] },
    ]),
    {
      constraint: { kind: 'category', category: product.category },
      suffixes: [` from ${product.category}`, ` from the ${product.category} section`],
    },
  ];
  // Where the category decides it is asked for; the price decides between products of one category.
  const byCategory = rivals.every((rival) => rival === product || rival.category !== product.category);
  const wanted = product.name.toLowerCase();
  const wordings = candidates
    .filter(({ constraint }) => (constraint.kind === 'category') === byCategory)
    // A price equal to the limit would make "under" and "at most" mean different things.
    .filter(({ constraint }) => constraint.kind === 'category' || rivals.every((rival) => rival.price !== constraint.limit))
    .filter(({ constraint }) => rivals.every((rival) => satisfies(rival, constraint) === (rival === product)))
    .flatMap(({ constraint, suffixes }) =>
      suffixes.flatMap((suffix) => CARRIERS.constrained.map((carrier) => ({ carrier, wanted, suffix, constraint }))),
    );
  return random.shuffle(wordings);
}
