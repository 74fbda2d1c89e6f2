// Baskets whose shelves are restocked: where a product is made is drawn anew for every basket, and what is wanted may be any of its kind but
// the first on the shelf. So nothing about a product can be remembered from one basket to the next, and only its page tells. Splits
// are by basket: no two baskets, of whatever split, are after the same products.

import { Random } from '../../base/random.ts';
import type { Split } from '../../base/vocabulary.ts';
import { BASKET_TIER, CARRIERS, kindOf } from './baskets.ts';
import type { Catalog, Product } from './catalog.ts';
import { COUNTRIES } from './details.ts';
import type { ShopTask } from './tasks.ts';
import { canonical } from './words.ts';

const COUNTS: Readonly<Record<Split, number>> = { train: 2400, validation: 300, test: 300 };
/** Draws for each basket; small catalogs have fewer baskets than COUNTS. */
const ATTEMPTS = 4;

export function restockedTasks(catalog: Catalog, size: number): ShopTask[] {
  const kinds = [...Map.groupBy(catalog.products, kindOf).values()]
    .map((kind) => kind.toSorted((a, b) => a.shelf - b.shelf))
    .filter(({ length }) => length > 1);
  if (kinds.length < size)
    throw new Error(
      `world.settings.basket: baskets of ${size} things need as many kinds with at least two products, found ${kinds.length}; take fewer things or more products`,
    );
  const random = Random.from('shop-restocked', size);
  const taken = new Set<string>();
  const tasks: ShopTask[] = [];
  for (const split of ['test', 'validation', 'train'] as const)
    for (let attempt = 0, made = 0; attempt < ATTEMPTS * COUNTS[split] && made < COUNTS[split]; attempt++) {
      const basket = random.shuffle(kinds).slice(0, size);
      const task = taskOf(basket, split, catalog, random);
      if (taken.has(task.target)) continue;
      taken.add(task.target);
      tasks.push(task);
      made++;
    }
  return tasks;
}

/** One basket: a thing of each of these kinds, in their order. */
function taskOf(kinds: readonly (readonly Product[])[], split: Split, { synonyms }: Catalog, random: Random): ShopTask {
  const wanted = kinds.map(([, ...hidden]) => random.pick(hidden));
  const [product] = wanted;
  if (!product) throw new RangeError('A basket needs at least one kind of thing');
  const countries = stocked(kinds, wanted, random);
  const texts = wanted.map((one) => `${kindOf(one)} made in ${countries.get(one.id)}`);
  const target = wanted
    .map(({ id }) => id)
    .toSorted((a, b) => a - b)
    .join('+');
  const words = wanted.map(kindOf).join(' ');
  return {
    id: `${target}-${BASKET_TIER}-restocked`,
    split,
    instruction: random.pick(CARRIERS).replace('%', () => texts.join(' and ')),
    category: product.category,
    tier: BASKET_TIER,
    target,
    level: 0,
    product,
    wanted: words,
    words: canonical(words, synonyms),
    constraint: undefined,
    wishes: wanted.map((one) => ({ product: one, by: 'country' })),
    texts,
    countries,
  };
}

/** Where the products of these kinds are made: no rival where anything wanted is, and no two of a kind in one country, as far as they go. */
function stocked(kinds: readonly (readonly Product[])[], wanted: readonly Product[], random: Random): ReadonlyMap<number, string> {
  const drawn = random.shuffle(COUNTRIES);
  const made = new Map(wanted.map(({ id }, index) => [id, drawn[index] ?? '']));
  for (const kind of kinds) {
    const others = random.shuffle(drawn.slice(wanted.length));
    kind.filter(({ id }) => !made.has(id)).forEach(({ id }, index) => made.set(id, others[index % others.length] ?? ''));
  }
  return made;
}
