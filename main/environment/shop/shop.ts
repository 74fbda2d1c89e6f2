// The shop: search, click and buy among 497 products until the one that the user wants is bought. The world is made so
// that reading decides (see resources/shop/make-catalog.mjs); transitions are deterministic and the state is plain data.
// stock.ts is what it is made of, step.ts what each action does.

import type { Environment } from '../environment.ts';
import { PURCHASE_FAILURES } from '../purchases.ts';
import { PURCHASE_TRAITS } from '../traits.ts';
import { BASKET_TIER, LONG_TIERS } from './baskets.ts';
import type { Catalog } from './catalog.ts';
import { comparableGroups, conceptGroups, exchangeablePrices } from './concepts.ts';
import { SHOP_FAILURES } from './failures.ts';
import { drawShopPage } from './page.ts';
import { nextWish, read } from './reader.ts';
import { REWARDS } from './rewards.ts';
import type { SearchIndex } from './search.ts';
import { identityOf, type ShopSettings, shopSettings } from './settings.ts';
import { itemText, reset, type ShopState, step } from './step.ts';
import { MOST_WORDS, type Stock, stockOf } from './stock.ts';
import { LIMITS, TIERS, type ShopTask, targetsOf } from './tasks.ts';
import { canonical, wordsOf } from './words.ts';

/** The shop with what its agents need beyond the common interface. */
export interface Shop extends Environment<ShopState> {
  readonly catalog: Catalog;
  /** Words worth searching for: of names and their synonyms, or the eighteen. */
  readonly searchable: ReadonlySet<string>;
  /** What demonstrators think before they buy. */
  readonly thoughts: ShopSettings['thoughts'];
  reachable(id: number): boolean;
  taskOf(state: ShopState): ShopTask;
  indexAt(level: number): SearchIndex;
}

const TIERS_OF = { short: TIERS, long: LONG_TIERS, all: [...TIERS, ...LONG_TIERS], baskets: [BASKET_TIER] };

export function createShop(input: unknown): Shop {
  const settings = shopSettings.parse(input ?? {});
  const stock = stockOf(settings);
  const { catalog, ordered, levels, grammars, useful, reachable, taskOf, indexAt } = stock;
  const rewards = REWARDS[settings.reward];
  const searchable = new Set(useful);
  return {
    name: 'shop',
    settings: identityOf(settings),
    maxSteps: settings.maxSteps,
    rewardRange: rewards.step,
    returnRange: [Math.min(0, rewards.step[0]) * settings.maxSteps, rewards.most(settings.maxSteps - 1, settings.decayAfter) + 1],
    categories: catalog.categories,
    tiers: TIERS_OF[settings.tasks],
    levels,
    tasks: (split, level = levels - 1) => (ordered.get(split) ?? []).filter((task) => task.level <= level),
    reset: (task, _seed, level) => reset(stock, task, level),
    step: (state, action) => step(stock, state, action),
    grammar: (state) => (state.done ? [] : (grammars[state.level] ?? [])),
    oracle: (state) => oracle(stock, state),
    lexicon: {
      corpus: () => corpus(stock),
      interchangeable: catalog.products.map(({ id }) => String(id)),
      concepts: conceptGroups(catalog),
      phrases: [...new Set(catalog.products.map(({ noun }) => wordsOf(noun).join(' ')))].filter((noun) => noun.includes(' ')),
      prices: exchangeablePrices(catalog),
      comparable: ({ id }) => comparableGroups(catalog, searchable, taskOf({ task: id }).constraint),
    },
    diagnostics: {
      failures: settings.tasks === 'short' ? PURCHASE_FAILURES : SHOP_FAILURES,
      traits: PURCHASE_TRAITS,
      coverage: ({ id }) => coverage(stock, taskOf({ task: id })),
    },
    draw: (observation, context) => drawShopPage(observation, context, catalog.categories),
    catalog,
    searchable,
    thoughts: settings.thoughts,
    reachable,
    taskOf,
    indexAt,
  };
}

/** A long task is read as reader.ts says. A short one: looks for the target as a reader would have to, then buys it: two steps, three where the category has to be seen. */
function oracle(stock: Stock, state: ShopState): string | undefined {
  const { taskOf, terms, reachable } = stock;
  const task = taskOf(state);
  if (state.done || !targetsOf(task).every(({ id }) => reachable(id))) return undefined;
  const wish = nextWish(stock, state);
  if (wish) return read(stock, state, wish).action;
  const { product, constraint } = task;
  if (!state.shown.includes(product.id) && state.searches.length === 0) {
    const words = wordsOf(product.name).filter((word) => !terms || terms.includes(word));
    if (words.length > 0) return `search ${words.slice(0, MOST_WORDS).join(' ')}`;
  }
  if (constraint?.kind === 'category' && state.open !== product.id) return `click ${product.id}`;
  return `buy ${product.id}`;
}

/** Words of the wish that may be searched for, synonyms counted as what they stand for. */
function coverage({ terms, catalog }: Stock, { words }: ShopTask): number {
  if (!terms || words.length === 0) return 1;
  const sayable = new Set(terms.flatMap((term) => canonical(term, catalog.synonyms)));
  return words.filter((word) => sayable.has(word)).length / words.length;
}

function* corpus({ tasks, catalog, indexes, levels, indexAt, settings, details }: Stock): Generator<string> {
  const all = indexAt(levels - 1);
  for (const { instruction } of tasks) yield instruction;
  for (const product of all.products) yield itemText(product, details?.get(product.id));
  for (const [say, mean] of Object.entries(catalog.sayings)) yield `${say} ${mean}`;
  for (const limit of LIMITS) yield `$${limit}`;
  for (const index of indexes) yield `TASK: Available: ${index.products.length} products across ${index.categories} categories.`;
  for (let count = 0; count <= all.products.length; count++) yield `Found ${count} results. Top ${Math.min(count, settings.resultsShown)}:`;
  yield 'search click buy. You bought. Not possible. Say search and words, click and id, or buy and id. The episode is over.';
  if (details) yield 'More to buy. is made there has longest warranty is cheapest';
  yield 'find take look at is matches must be from below above';
  if (settings.thoughts !== 'brief') yield 'yes, no';
}
