// A customer who shops like a person: searches the wish, opens what looks right, chooses the options, buys; with mistakes
// at adjustable rates. A reference policy is cloned from such episodes. It does not see the goal, so even without
// mistakes it fails where the best rule fails.

import type { Turn } from '../environment.ts';
import type { PurchaseMistakes } from '../purchases.ts';
import { type Wish, readWish, wordsOf } from './instruction.ts';
import { BUY } from './pages.ts';
import { follow, queryFor, seenProducts } from './rules.ts';
import { demonstrateInShort } from './view-demonstrator.ts';
import type { WebShopState } from './site.ts';
import type { WebShop } from './webshop.ts';

interface Said {
  readonly thought: string;
  readonly action: string;
}

const pick = <T>(items: readonly T[], random: () => number): T | undefined => items[Math.floor(random() * items.length)];

export function demonstrate(shop: WebShop, turn: Turn<WebShopState>, mistakes: PurchaseMistakes, random: () => number): Said {
  const { state, clickables } = turn;
  if (shop.view) return demonstrateInShort(shop, shop.view(state), turn, mistakes, random);
  const wish = readWish(state.instruction);
  if (state.page === 'search') return search(wish, mistakes, random);
  const left = shop.maxSteps - state.steps;
  if (random() < mistakes.uselessClick && left > wish.options.length + 5) {
    const thing =
      pick(
        clickables.filter((one) => one !== BUY),
        random,
      ) ?? 'back to search';
    return { thought: `look at ${thing}`, action: `click[${thing}]` };
  }
  if (state.page === 'item' && state.options.length === 0 && wish.options.length > 0 && random() < mistakes.earlyPurchase) {
    return { thought: 'take it as it is', action: `click[${BUY}]` };
  }
  const action = follow('walk', shop, turn);
  return { thought: explain(shop, state, wish, action), action };
}

function search(wish: Wish, mistakes: PurchaseMistakes, random: () => number): Said {
  if (random() >= mistakes.wrongWord) {
    const query = queryFor(wish);
    return { thought: `search for ${wordsOf(wish.base).slice(-2).join(' ')} and the options`, action: `search[${query}]` };
  }
  // Forgets the options, or some of the words.
  const all = wordsOf(wish.base);
  const some = random() < 0.5 ? all : all.filter(() => random() < 0.5);
  const words = some.length > 0 ? some : all.slice(-1);
  return { thought: `search for ${words.slice(-2).join(' ')}`, action: `search[${words.join(' ') || 'product'}]` };
}

function explain(shop: WebShop, state: WebShopState, wish: Wish, action: string): string {
  const thing = action.slice(action.indexOf('[') + 1, -1);
  if (state.page === 'results') return `${thing} may be it`;
  if (state.page !== 'item') return 'back to the product';
  if (thing === BUY) return 'all is chosen';
  const option = wish.options.find(([, value]) => value === thing);
  if (option !== undefined) return `${option[0]} is ${thing}`;
  const here = seenProducts(shop, state, wish).find((one) => one.product.asin === state.asin);
  return `it offers ${here?.offered ?? 0} of ${wish.options.length}`;
}
