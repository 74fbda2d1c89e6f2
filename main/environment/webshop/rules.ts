// Hand-written shoppers, from the simplest to the best rule; each adds one idea to the one before. They see what a
// customer sees: the wish, the page, and (through the state's history) the pages they opened. None knows the goal.

import type { Turn } from '../environment.ts';
import { type Wish, readWish, wordsOf } from './instruction.ts';
import { BUY, NEXT, PREVIOUS } from './pages.ts';
import type { Product } from './product.ts';
import type { WebShopState } from './site.ts';
import type { WebShop } from './webshop.ts';

export const RULES = ['first result', 'options', 'query', 'walk', 'read'] as const;
export type Rule = (typeof RULES)[number];

/** A product counts as right when this share of the wished attributes stands in its title or features. */
const ACCEPTED = 0.75;

/** What the rule knows of a product that it opened. */
interface Seen {
  readonly product: Product;
  /** Wished option values that it offers. */
  readonly offered: number;
  /** Share of the wished attributes that were read in its title or features. */
  readonly share: number;
  readonly read: boolean;
}

/** The next action of a rule. */
export function follow(rule: Rule, shop: WebShop, turn: Turn<WebShopState>): string {
  const { state } = turn;
  const wish = readWish(state.instruction);
  const level = RULES.indexOf(rule);
  switch (state.page) {
    case 'search':
      return `search[${level < 2 ? state.instruction.replace(/[[\]\n]/g, ' ') : queryFor(wish)}]`;
    case 'results':
      return level < 3 ? openFirst(turn) : chooseResult(rule, shop, turn, wish);
    case 'item':
      if (level === 0) return `click[${BUY}]`;
      return level < 3 ? chooseOptions(turn, wish) : judgeItem(rule, shop, turn, wish);
    default:
      return `click[${PREVIOUS}]`;
  }
}

/** The words of the wish, those of the option values twice: they distinguish near-identical products. */
export function queryFor(wish: Wish): string {
  const values = wish.options.flatMap(([, value]) => wordsOf(value));
  return [...wordsOf(wish.base), ...values, ...values].join(' ') || 'product';
}

const isProduct = (thing: string): boolean => thing !== NEXT && thing !== PREVIOUS && thing !== 'back to search';

function openFirst(turn: Turn<WebShopState>): string {
  const first = turn.clickables.find(isProduct);
  return first === undefined ? 'click[back to search]' : `click[${first}]`;
}

/** Clicks the wished values that are offered and not chosen yet, then buys. */
function chooseOptions(turn: Turn<WebShopState>, wish: Wish): string {
  const chosen = new Set(turn.state.options.map(([, value]) => value));
  const next = wish.options.find(([, value]) => turn.clickables.includes(value) && !chosen.has(value));
  return `click[${next?.[1] ?? BUY}]`;
}

/** Wished attributes: pairs of words before the kind of product, and the lists after `with` and `for`. */
export function attributesOf(base: string): string[] {
  const text = base.replace(/^find me /i, '').toLowerCase();
  const start = text.search(/ (?:with|for) /);
  const head = (start < 0 ? text : text.slice(0, start)).split(', ');
  const attributes: string[] = [];
  for (const piece of head) {
    const words = piece.split(' ');
    if (words.length < 2 || (words.length === 2 && head.length === 1)) break;
    attributes.push(words.slice(0, 2).join(' '));
    if (words.length > 2) break;
  }
  const tail = start < 0 ? [] : text.slice(start).split(/ (?:with|for) |, /);
  return [...attributes, ...tail.map((piece) => piece.trim()).filter((piece) => piece !== '')];
}

/** Products opened so far, in order. */
export function seenProducts(shop: WebShop, state: WebShopState, wish: Wish): Seen[] {
  const readOnes = new Set<string>();
  const opened: string[] = [];
  for (const action of state.history) {
    const thing = action.slice('click['.length, -1);
    if (thing === 'features' && opened.length > 0) readOnes.add(opened.at(-1) ?? '');
    else if (action.startsWith('click[') && shop.catalog.find(thing.toUpperCase()) !== undefined) opened.push(thing);
  }
  const attributes = attributesOf(wish.base);
  return [...new Set(opened)].map((asin) => {
    const product = shop.catalog.product(shop.catalog.find(asin.toUpperCase()) ?? 0);
    const offers = new Set(product.options.flatMap((group) => group.values));
    const read = readOnes.has(asin);
    const text = `${product.title} ${read ? product.bullets.join(' ') : ''}`.toLowerCase();
    const hits = attributes.filter((attribute) => attribute.split(' ').every((word) => text.includes(word))).length;
    const share = attributes.length === 0 ? 1 : hits / attributes.length;
    return { product, offered: wish.options.filter(([, value]) => offers.has(value)).length, share, read };
  });
}

const better = (a: Seen, b: Seen): boolean => a.offered > b.offered || (a.offered === b.offered && a.share > b.share);
const bestOf = (seen: readonly Seen[]): Seen | undefined =>
  seen.reduce<Seen | undefined>((best, one) => (best && !better(one, best) ? best : one), undefined);

/** Steps that choosing all options and buying takes. */
const finishing = (wish: Wish): number => wish.options.length + 1;

function chooseResult(rule: Rule, shop: WebShop, turn: Turn<WebShopState>, wish: Wish): string {
  const { state } = turn;
  const left = shop.maxSteps - state.steps;
  const seen = seenProducts(shop, state, wish);
  const opened = new Set(seen.map((one) => one.product.asin));
  const onPage = shop.results(state);
  const candidates = onPage.filter((product) => !opened.has(product.asin) && (product.prices[0] ?? 0) <= wish.limit);
  if (rule === 'read') sortByTitle(candidates, wish);
  const exploring = rule === 'read' ? 5 : 3;
  const [next] = candidates;
  const best = bestOf(seen);
  if (best === undefined || left >= finishing(wish) + exploring) {
    if (next !== undefined) return `click[${next.asin.toLowerCase()}]`;
    if (onPage.length > 0 && left >= finishing(wish) + exploring + 2 && (best === undefined || best.offered < wish.options.length))
      return `click[${NEXT}]`;
  }
  if (best !== undefined && onPage.some(({ asin }) => asin === best.product.asin)) return `click[${best.product.asin.toLowerCase()}]`;
  if (state.resultsPage > 1) return `click[${PREVIOUS}]`;
  return openFirst(turn);
}

/** A title that says all of the wish is worth as much as standing this many places higher in the results. */
const TITLE_WORTH = 2;

function sortByTitle(products: Product[], wish: Wish): void {
  const words = [...new Set(wordsOf(wish.base))];
  const places = new Map(
    products.map((product, place) => {
      const title = product.title.toLowerCase();
      const share = words.filter((word) => title.includes(word)).length / Math.max(1, words.length);
      return [product, place - TITLE_WORTH * share];
    }),
  );
  products.sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}

function judgeItem(rule: Rule, shop: WebShop, turn: Turn<WebShopState>, wish: Wish): string {
  const { state } = turn;
  const left = shop.maxSteps - state.steps;
  const seen = seenProducts(shop, state, wish);
  const here = seen.find((one) => one.product.asin === state.asin);
  const best = bestOf(seen);
  if (here === undefined || state.options.length > 0) return chooseOptions(turn, wish);
  const complete = here.offered === wish.options.length;
  const reads = rule === 'read';
  if (complete && (!reads || (here.read && here.share >= ACCEPTED))) return chooseOptions(turn, wish);
  if (complete && reads && !here.read && left >= finishing(wish) + 2) return 'click[features]';
  if (left >= finishing(wish) + (reads ? 6 : 4)) return `click[${PREVIOUS}]`;
  if (best !== undefined && best !== here && left >= finishing(wish) + 2) return `click[${PREVIOUS}]`;
  return chooseOptions(turn, wish);
}
