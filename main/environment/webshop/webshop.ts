// The original WebShop in text mode as a world: a customer's wish, a search over the catalog, pages to read, options to
// choose, one purchase that ends the episode and is paid between 0 and 1. Success is a reward of exactly 1. Actions are
// `search[words]` and `click[thing]`. site.ts is the place, moves.ts what each action does there.

import { splits } from '../../base/vocabulary.ts';
import type { Environment, Task } from '../environment.ts';
import { PURCHASE_FAILURES } from '../purchases.ts';
import { drawWebShopPage } from './drawing.ts';
import type { GoalList } from './goals.ts';
import { reset, step } from './moves.ts';
import { BUY, groupOf, itemClickables, itemPage, NEXT, PAGE_LENGTH, PREVIOUS } from './pages.ts';
import type { Product } from './product.ts';
import { DataError } from './search/records.ts';
import { type WebShopSettings, webshopSettings } from './settings.ts';
import { Site, type WebShopState } from './site.ts';
import type { Catalog, Progress } from './search/source.ts';
import { TIERS } from './tasks.ts';
import { viewCorpus, viewOf } from './view.ts';

export interface WebShop extends Environment<WebShopState> {
  readonly catalog: Catalog;
  readonly goals: GoalList;
  readonly settings: WebShopSettings;
  /** The task with this text, whatever its price limit: the limit in the given text counts, and none means none. */
  findTask(instruction: string): Task | undefined;
  /** The products on the result page of a state. */
  results(state: WebShopState): readonly Product[];
  productOf(state: WebShopState): Product;
}

const MOST_IN_CORPUS = 20_000;

export function createWebShop(given: unknown, progress?: Progress): WebShop {
  const settings = webshopSettings.parse(given ?? {});
  const site = new Site(settings, progress);
  const { catalog, goals, tasks } = site;
  const categories = new Set<string>();
  for (const split of splits) for (const task of tasks.list(split)) categories.add(task.category);
  const shop: WebShop = {
    name: 'webshop',
    settings,
    maxSteps: settings.maxSteps,
    rewardRange: [0, 1],
    returnRange: [0, 1],
    categories: [...categories].sort(),
    tiers: TIERS,
    levels: TIERS.length,
    tasks: (split, level = TIERS.length - 1) => tasks.list(split).filter((task) => task.level <= level),
    reset: (task) => reset(site, task),
    step: (state, action) => step(site, state, action),
    grammar: (state) => site.grammar(state),
    ...(settings.view !== 'page' && { view: (state: WebShopState) => viewOf(shop, state) }),
    oracle: (state) => oracle(site, state),
    lexicon: {
      corpus: () => (settings.view === 'page' ? corpus(site) : viewCorpus(shop)),
      ...(settings.view === 'page' && { longPages: 'world.settings.view=words or marks for short pages' }),
    },
    diagnostics: { failures: PURCHASE_FAILURES },
    draw: drawWebShopPage,
    catalog,
    goals,
    findTask: (instruction) => tasks.find(instruction),
    results: (state) => site.results(state),
    productOf: (state) => site.productOf(state),
  };
  return shop;
}

/** Goals about the same product form a cluster. Where the data is not on this machine, each goal is a cluster by itself. */
export function goalClusters(given: unknown): (task: { readonly id: string }) => string {
  const site = openSite(given);
  return ({ id }) => {
    const number = Number(/^goal-(\d+)$/.exec(id)?.[1] ?? Number.NaN);
    return site && number < site.goals.size ? site.catalog.product(site.goals.documentOf(number)).asin : id;
  };
}

function openSite(given: unknown): Site | undefined {
  try {
    return new Site(webshopSettings.parse(given ?? {}));
  } catch (error) {
    if (error instanceof DataError) return undefined;
    throw error;
  }
}

/** Looks for the product by its title, chooses what is wanted, buys. */
function oracle(site: Site, state: WebShopState): string | undefined {
  if (state.page === 'done') return undefined;
  const goal = site.goals.goal(state.goal);
  const wanted = site.target(state);
  if (state.page === 'results' && site.isOnPage(state)) return `click[${wanted.asin.toLowerCase()}]`;
  if (state.page !== 'search' && state.page !== 'results' && state.asin === wanted.asin) {
    if (state.page !== 'item') return `click[${PREVIOUS}]`;
    const offered = itemClickables(wanted);
    const missing = goal.options.find(([name, value]) => offered.includes(value) && !has(state, groupOf(wanted, value) ?? name, value));
    return `click[${missing?.[1] ?? BUY}]`;
  }
  const query = `search[${wanted.title.toLowerCase().replace(/[[\]\n]/g, ' ')}]`;
  if (state.page === 'results' && state.history.includes(query) && state.resultsPage * PAGE_LENGTH < site.hits(state.query).length)
    return `click[${NEXT}]`;
  return query;
}

function* corpus({ tasks, catalog }: Site): Generator<string> {
  yield 'search[ ] click[ ] webshop instruction page total results rating n.a. [sep] back to search < prev next > description features reviews buy now';
  for (const task of tasks.list('train')) yield task.instruction;
  for (let document = 0; document < Math.min(catalog.size, MOST_IN_CORPUS); document++) {
    const product = catalog.product(document);
    yield itemPage('', product);
    yield `${product.asin} ${product.asin.toLowerCase()} ${product.description} ${product.bullets.join(' ')}`;
  }
}

function has(state: WebShopState, name: string, value: string): boolean {
  return state.options.some(([known, chosen]) => known === name && chosen === value);
}
