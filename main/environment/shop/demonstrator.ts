// Who can act in the shop without learning: `blind` and `heuristic` for the baselines, and a demonstrator that shops like
// a person, with mistakes at adjustable rates, from whom a reference policy is cloned. None of them knows the target;
// the demonstrator knows the synonyms and reads pages with care, unless it makes a mistake.

import type { Turn } from '../environment.ts';
import type { ShopMistakes } from '../purchases.ts';
import { BASKET_TIER, type Wish } from './baskets.ts';
import type { Product } from './catalog.ts';
import { nextWish, offered, read, type Reading } from './reader.ts';
import type { Shop } from './shop.ts';
import { resultText, type ShopState } from './step.ts';
import { type Constraint, satisfies, type ShopTask } from './tasks.ts';
import { canonical, singular, wordsOf } from './words.ts';

const pick = <T>(items: readonly T[], random: () => number): T | undefined => items[Math.floor(random() * items.length)];

/** What the last results page offers, as far as it can be bought. */
function shownProducts(shop: Shop, state: ShopState): Product[] {
  const { byId } = shop.indexAt(state.level);
  return state.shown.filter((id) => shop.reachable(id)).flatMap((id) => byId.get(id) ?? []);
}

function buyAnything(shop: Shop, state: ShopState, random: () => number): string {
  const products = shop.indexAt(state.level).products.filter(({ id }) => shop.reachable(id));
  return `buy ${pick(products, random)?.id ?? 1}`;
}

/** All the words of the task that can be searched for (the shop ignores all others), or nothing. */
function searchTask(shop: Shop, state: ShopState): string | undefined {
  const words = wordsOf(shop.taskOf(state).instruction).filter((word) => shop.searchable.has(word));
  return state.searches.length === 0 && words.length > 0 ? `search ${words.join(' ')}` : undefined;
}

/** For one wish of a long task: searches for its kind, then buys what `choose` takes from the results. */
function searchOrBuy(
  shop: Shop,
  state: ShopState,
  wish: Wish,
  random: () => number,
  choose: (offers: readonly Product[]) => Product | undefined,
): string {
  if (state.shown.length === 0) return `search ${wordsOf(wish.product.noun).join(' ')}`;
  const chosen = choose(offered(shop, state, wish).filter(({ id }) => shop.reachable(id)));
  return chosen ? `buy ${chosen.id}` : buyAnything(shop, state, random);
}

/** Searches all the words of the task and buys the first result; of a long task one thing after the other. */
export function blind(shop: Shop, { state }: Turn<ShopState>, random: () => number): string {
  const wish = nextWish(shop, state);
  if (wish) return searchOrBuy(shop, state, wish, random, ([chosen]) => chosen);
  const [first] = shownProducts(shop, state);
  return searchTask(shop, state) ?? (first ? `buy ${first.id}` : buyAnything(shop, state, random));
}

/**
 * Searches all the words of the task and buys the result whose name has most of them, literally; of equals the one with the
 * fewest other words, then the first. Price limits are respected, categories and synonyms are not understood. Of a long task it buys one
 * thing after the other, the cheapest or the first below the limit, and opens no page.
 */
export function heuristic(shop: Shop, { state }: Turn<ShopState>, random: () => number): string {
  const wish = nextWish(shop, state);
  if (wish) {
    const { by, limit = Number.POSITIVE_INFINITY } = wish;
    return searchOrBuy(shop, state, wish, random, (offers) =>
      by === 'price' ? offers.toSorted((a, b) => a.price - b.price)[0] : offers.find(({ price }) => price < limit),
    );
  }
  const search = searchTask(shop, state);
  if (search !== undefined) return search;
  const task = shop.taskOf(state);
  const wanted = new Set(wordsOf(task.wanted).map(singular));
  const priced = task.constraint?.kind === 'category' ? undefined : task.constraint;
  let best: { product: Product; score: number } | undefined;
  for (const product of shownProducts(shop, state)) {
    if (!satisfies(product, priced)) continue;
    const words = wordsOf(product.name).map(singular);
    const shared = words.filter((word) => wanted.has(word)).length;
    const score = shared - (words.length - shared) / 100;
    if (!best || score > best.score) best = { product, score };
  }
  return best ? `buy ${best.product.id}` : buyAnything(shop, state, random);
}

export function demonstrate(
  shop: Shop,
  turn: Turn<ShopState>,
  mistakes: ShopMistakes,
  random: () => number,
): { thought: string; action: string } {
  const { state } = turn;
  const wish = nextWish(shop, state);
  if (wish) return demonstrateWish(shop, state, wish, mistakes, random);
  const task = shop.taskOf(state);
  const shown = shownProducts(shop, state);
  if (shown.length === 0) return lookFor(shop, task, mistakes, random);
  // Who has opened a page decides with care; hasty purchases are made from the results.
  if (state.open === null && random() < mistakes.earlyPurchase) {
    const chosen = pick(shown, random) ?? task.product;
    return { thought: `take ${chosen.id}`, action: `buy ${chosen.id}` };
  }
  if (state.open === null && random() < mistakes.uselessClick) {
    const chosen = pick(shown, random) ?? task.product;
    return { thought: `look at ${chosen.id}`, action: `click ${chosen.id}` };
  }
  const key = task.words.toSorted().join(' ');
  const exact = shown.filter((product) => canonical(product.name, shop.catalog.synonyms).toSorted().join(' ') === key);
  const name = exact[0]?.name.toLowerCase() ?? '';
  const right = exact.find((product) => satisfies(product, task.constraint));
  if (!right) return lookFor(shop, task, mistakes, random);
  if (shop.thoughts !== 'brief') {
    const thought = (shop.thoughts === 'worked' ? workedOut : copiedOut)(exact, task.constraint, right);
    return { thought, action: `buy ${right.id}` };
  }
  if (!task.constraint) return { thought: `${right.id} matches ${name}`, action: `buy ${right.id}` };
  if (task.constraint.kind === 'category') return { thought: `${right.id} is from ${task.constraint.category}`, action: `buy ${right.id}` };
  return { thought: `${right.id} is $${right.price} ${task.constraint.kind} $${task.constraint.limit}`, action: `buy ${right.id}` };
}

/** What is asked for, what each product with the right name has of it, and which one that leaves. */
function workedOut(exact: readonly Product[], constraint: Constraint | undefined, right: Product): string {
  if (!constraint) return `${right.name.toLowerCase()}: ${right.id}`;
  const of = ({ price, category }: Product): string => (constraint.kind === 'category' ? category : `$${price}`);
  const seen = exact.slice(0, exact.indexOf(right) + 1).map((product) => `${of(product)} ${product === right ? 'yes' : 'no'}`);
  return `${asked(constraint)}: ${seen.join(', ')}: ${right.id}`;
}

/**
 * The products with the right name as the page shows them, up to the one to buy, each with how it compares. A language model continues
 * a line that it has begun to copy where it cannot look up its price or section, and learns on which side of a limit a price is
 * (one number weighs against the other) where it cannot learn whether that is the side asked for (both must be known at once).
 */
function copiedOut(exact: readonly Product[], constraint: Constraint | undefined, right: Product): string {
  const line = (product: Product): string => resultText(product).toLowerCase();
  if (!constraint) return line(right);
  const side = ({ price, category }: Product): string => {
    if (constraint.kind === 'category') return category === constraint.category ? 'yes' : 'no';
    return price < constraint.limit ? 'below' : 'above';
  };
  const seen = exact.slice(0, exact.indexOf(right) + 1).map((product) => `${line(product)} ${side(product)}`);
  return `${asked(constraint)}: ${seen.join(', ')}`;
}

const asked = (constraint: Constraint): string =>
  constraint.kind === 'category' ? `from ${constraint.category}` : `${constraint.kind} $${constraint.limit}`;

/** A careful reader who now and then searches for something else, buys before having read, or opens a page a second time. */
function demonstrateWish(shop: Shop, state: ShopState, wish: Wish, mistakes: ShopMistakes, random: () => number): Reading {
  const offers = offered(shop, state, wish).filter(({ id }) => shop.reachable(id));
  const chosen = pick(offers, random);
  if (!chosen) {
    if (random() >= mistakes.wrongWord || state.searches.length > 1) return read(shop, state, wish);
    const stray = pick([...shop.searchable], random) ?? 'shoes';
    return { thought: `find ${stray}`, action: `search ${stray}` };
  }
  if (random() < mistakes.uselessClick) return { thought: `look at ${chosen.id}`, action: `click ${chosen.id}` };
  // Impatience is felt once per wish: before anything of its kind was looked at. In baskets it takes the first result.
  const fresh = !offers.some(({ id }) => state.clicked.includes(id));
  const basket = shop.taskOf(state).tier === BASKET_TIER;
  if (fresh && random() < mistakes.earlyPurchase) {
    const hasty = basket ? (offers[0] ?? chosen) : chosen;
    return { thought: `take ${hasty.id}`, action: `buy ${hasty.id}` };
  }
  return read(shop, state, wish);
}

/** Searches for what the task names: in the shop's words or in those of the task, and sometimes with too few or wrong ones. */
function lookFor(shop: Shop, task: ShopTask, mistakes: ShopMistakes, random: () => number): { thought: string; action: string } {
  const sayable = (words: readonly string[]): string[] => words.filter((word) => shop.searchable.has(word));
  const proper = sayable(wordsOf(task.product.name));
  const words = random() < 1 - mistakes.userWords ? proper : sayable(wordsOf(task.wanted));
  if (words.length === 0 || random() < mistakes.wrongWord) {
    const stray = pick([...shop.searchable], random) ?? 'shoes';
    const some = random() < 0.7 ? words.filter(() => random() < 0.5) : [...words.slice(0, -1), stray];
    const query = (some.length > 0 ? some : [words.at(-1) ?? stray]).join(' ');
    return { thought: `find ${query}`, action: `search ${query}` };
  }
  return { thought: shop.thoughts !== 'brief' ? '' : `find ${proper.join(' ')}`, action: `search ${words.join(' ')}` };
}
