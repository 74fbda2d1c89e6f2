// Demonstrations in the words of view.ts, from two teachers: the rule `walk` and a customer who happens to know the product. The
// second shows which results are worth opening, the first how to continue when it was the wrong one. Mistakes come at the rates that
// cloning asks for, so that the reference is competent but far from good.

import type { Turn, View } from '../environment.ts';
import type { PurchaseMistakes } from '../purchases.ts';
import { readWish } from './instruction.ts';
import { BUY, PREVIOUS } from './pages.ts';
import { follow } from './rules.ts';
import { SEARCHES, type Search, compare, searchText } from './view.ts';
import type { WebShopState } from './site.ts';
import type { WebShop } from './webshop.ts';

/** Probability that the one who knows the product decides. */
const KNOWING = 0.6;
/** Probability that the features are read when wished attributes were not found so far, and a value that only comes near is taken. */
const READING = 0.1;
const TAKING_NEAR = 0.5;

interface Said {
  readonly thought: string;
  readonly action: string;
}

const pick = <T>(items: readonly T[], random: () => number): T | undefined => items[Math.floor(random() * items.length)];

export function demonstrateInShort(
  shop: WebShop,
  view: View,
  turn: Turn<WebShopState>,
  mistakes: PurchaseMistakes,
  random: () => number,
): Said {
  const { state } = turn;
  const wish = readWish(state.instruction);
  const search = (kind: Search): Said => ({ thought: `search for ${kind}`, action: `search[${searchText(kind, wish)}]` });
  const left = shop.maxSteps - state.steps;
  const spare = left > wish.options.length + 5;
  if (state.page === 'search') return search(random() < mistakes.wrongWord ? (pick(SEARCHES, random) ?? 'all') : 'options');
  if (spare && random() < mistakes.uselessClick) {
    const action = pick(
      [...view.sayings.values()].filter((one) => one !== `click[${BUY}]`),
      random,
    );
    if (action !== undefined) return { thought: 'look around', action };
  }
  const target = shop.catalog.product(shop.goals.documentOf(state.goal)).asin;
  const knows = random() < KNOWING;
  const walked = follow('walk', shop, turn);
  if (state.page === 'results') {
    const open = `click[${target.toLowerCase()}]`;
    if (knows && turn.clickables.includes(target.toLowerCase())) return { thought: 'this may be it', action: open };
    return [...view.sayings.values()].includes(walked) ? { thought: 'the next one', action: walked } : search('all');
  }
  if (state.page !== 'item') return { thought: 'back to the product', action: `click[${PREVIOUS}]` };
  if (state.options.length < wish.options.length && random() < mistakes.earlyPurchase)
    return { thought: 'take it as it is', action: `click[${BUY}]` };
  const product = shop.productOf(state);
  const { lacks, options } = compare(product, wish);
  if (spare && lacks > 0 && random() < READING && view.sayings.has('features')) return { thought: 'read', action: 'click[features]' };
  if (product.asin !== target) {
    if (knows && spare && state.options.length === 0) return { thought: 'another one', action: `click[${PREVIOUS}]` };
    if (walked !== `click[${BUY}]`) return { thought: 'the next step', action: walked };
  }
  // The wished values, then perhaps one that comes near, then the purchase.
  const chosen = new Set(state.options.map(([, value]) => value));
  const open = options.filter(({ values }) => !values.some((value) => chosen.has(value)));
  const exact = open.find((option) => option.exact)?.values[0];
  const near = random() < TAKING_NEAR ? open.find(({ values }) => values.length > 0)?.values[0] : undefined;
  const value = exact ?? near;
  return value === undefined ? { thought: 'all is chosen', action: `click[${BUY}]` } : { thought: 'choose', action: `click[${value}]` };
}
