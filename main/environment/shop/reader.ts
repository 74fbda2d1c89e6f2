// How a careful reader does a long task: one wish after the other, searching for the kind of thing, opening the pages that could be meant
// until it knows which one is, then buying. Nothing is bought that the pages read so far do not single out; so these are the
// well-chosen steps of a task. The oracle acts like this, and the demonstrator when it makes no mistake.

import type { Wish } from './baskets.ts';
import type { Product } from './catalog.ts';
import type { Shop } from './shop.ts';
import type { ShopState } from './step.ts';
import { wordsOf } from './words.ts';

export interface Reading {
  readonly thought: string;
  readonly action: string;
}

/** The first wish that was not bought yet; undefined for a task of one product. */
export function nextWish(shop: Pick<Shop, 'taskOf'>, state: ShopState): Wish | undefined {
  return shop.taskOf(state).wishes?.find(({ product }) => !(state.basket ?? []).includes(product.id));
}

/** What the last results page offers of the kind that a wish is about. */
export function offered(shop: Pick<Shop, 'indexAt'>, state: ShopState, { product: { noun } }: Wish): Product[] {
  const { byId } = shop.indexAt(state.level);
  return state.shown.flatMap((id) => byId.get(id) ?? []).filter((product) => product.noun === noun);
}

export function read(shop: Pick<Shop, 'taskOf' | 'indexAt'>, state: ShopState, wish: Wish): Reading {
  const { product, by, limit = Number.POSITIVE_INFINITY } = wish;
  const kind = wordsOf(product.noun).join(' ');
  const candidates = offered(shop, state, wish);
  if (candidates.length === 0) return { thought: `find ${kind}`, action: `search ${kind}` };
  const shown = candidates.includes(product);
  const unread = candidates.filter(({ id, price }) => price < limit && !state.clicked.includes(id));
  const known = by === 'price' || (by === 'country' ? state.clicked.includes(product.id) : unread.length === 0);
  if (known && shown) return { thought: `${product.id} ${REASONS[by]}`, action: `buy ${product.id}` };
  const [next] = by === 'price' ? [] : unread;
  if (next) return { thought: `look at ${next.id}`, action: `click ${next.id}` };
  // Not among the results shown: the name in full finds it.
  const name = wordsOf(product.name).join(' ');
  return { thought: `find ${name}`, action: `search ${name}` };
}

const REASONS: Readonly<Record<Wish['by'], string>> = {
  country: 'is made there',
  warranty: 'has longest warranty',
  price: 'is cheapest',
};
