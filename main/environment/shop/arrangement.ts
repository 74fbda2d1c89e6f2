// A catalog as a run wants it: fewer products, or other numbers. Products of one name stay together, because tasks distinguish them,
// and names stay in their split. Without such settings the catalog is what its file says.

import { Random } from '../../base/random.ts';
import { type Catalog, LEVELS, type Product } from './catalog.ts';
import type { ShopSettings } from './settings.ts';
import { nameKey, type ShopTask, targetsOf } from './tasks.ts';

export function arrange(catalog: Catalog, { products: count, ids, tasks }: Pick<ShopSettings, 'products' | 'ids' | 'tasks'>): Catalog {
  if (count > catalog.products.length)
    throw new Error(
      `world.settings.products: the catalog has ${catalog.products.length} products, found ${count}; take fewer, or 0 for all`,
    );
  const some = tasks === 'baskets' ? chooseByKind : choose;
  const fewer = count === 0 ? catalog : { ...catalog, products: some(catalog, count) };
  return ids === 'catalog' ? fewer : { ...fewer, products: spread(fewer) };
}

/** Whole names in turn from every category and split, until there are enough; the last name may be cut. */
function choose(catalog: Catalog, count: number): Product[] {
  const groups = new Map<string, Map<string, Product[]>>();
  for (const product of Random.from('shop-products').shuffle(catalog.products)) {
    const kind = `${product.category} ${product.split}`;
    const names = groups.get(kind) ?? new Map<string, Product[]>();
    const key = nameKey(product, catalog);
    names.set(key, [...(names.get(key) ?? []), product]);
    groups.set(kind, names);
  }
  const queues = [...groups.values()].map((names) => [...names.values()]);
  const chosen: Product[] = [];
  for (let round = 0; chosen.length < count; round++) for (const queue of queues) chosen.push(...(queue[round] ?? []));
  // The easiest level must not be empty, and every level must add something: products are levelled anew, in equal parts.
  const kept = chosen.slice(0, count);
  return kept
    .map((product, index): Product => ({ ...product, level: Math.floor((LEVELS * index) / kept.length) }))
    .sort((a, b) => a.id - b.id);
}

/**
 * For baskets: as many of every kind of thing, so that all splits ask for the same kinds. In turn the one that stands first on the shelf (which no
 * basket is after), one of training, one of validation or test, and so on.
 */
function chooseByKind({ products }: Catalog, count: number): Product[] {
  const queues = [...Map.groupBy(products, ({ noun }) => noun).values()].map((kind, number) => {
    const [front, ...others] = kind.toSorted((a, b) => a.shelf - b.shelf);
    const of = (split: Product['split']): Product[] => others.filter((product) => product.split === split);
    const held = number % 2 === 0 ? [of('validation'), of('test')] : [of('test'), of('validation')];
    const rounds = others.flatMap((_, round) => [of('train')[round], held[round % 2]?.[Math.floor(round / 2)]].flatMap((one) => one ?? []));
    return front ? [front, ...rounds] : rounds;
  });
  const chosen: Product[] = [];
  for (let round = 0; chosen.length < count; round++) for (const queue of queues) chosen.push(...queue.slice(round, round + 1));
  return chosen
    .slice(0, count)
    .map((product): Product => ({ ...product, level: 0 }))
    .sort((a, b) => a.id - b.id);
}

/** The same products numbered from 1, with the categories taking turns. */
function spread({ products, categories }: Catalog): Product[] {
  const shelves = categories.map((category) =>
    Random.from('shop-ids', category).shuffle(products.filter((one) => one.category === category)),
  );
  const numbered: Product[] = [];
  for (let round = 0; numbered.length < products.length; round++)
    for (const shelf of shelves) {
      const product = shelf[round];
      if (product) numbered.push({ ...product, id: numbered.length + 1 });
    }
  return numbered;
}

/** All tasks that can be solved, and of the others in each split as many as make a fifth. */
export function aFifthImpossible(tasks: readonly ShopTask[], maxReachableId: number): ShopTask[] {
  if (maxReachableId === 0) return [...tasks];
  const possible = (task: ShopTask): boolean => targetsOf(task).every(({ id }) => id <= maxReachableId);
  const room = new Map<string, number>();
  for (const task of tasks) if (possible(task)) room.set(task.split, (room.get(task.split) ?? 0) + 0.25);
  return Random.from('shop-impossible')
    .shuffle(tasks)
    .filter((task) => {
      if (possible(task)) return true;
      const left = room.get(task.split) ?? 0;
      room.set(task.split, left - 1);
      return left >= 1;
    });
}
