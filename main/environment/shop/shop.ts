// The shop: search, click and buy among 497 products until the one that the user wants is bought. The world is made so
// that reading decides (see scripts/make-shop-catalog.mjs); transitions are deterministic and the state is plain data.

import { z } from 'zod';
import { Random } from '../../random.ts';
import type { Environment, Facts, Grammar, Turn } from '../environment.ts';
import { type Split, splits } from '../../vocabulary.ts';
import { tidy } from '../grammar.ts';
import { LEVELS, loadCatalog, type Catalog, type Product } from './catalog.ts';
import { conceptGroups, exchangeablePrices } from './concepts.ts';
import { REWARDS, REWARD_NAMES, type ShopEvent } from './rewards.ts';
import { indexCatalog, type SearchIndex } from './search.ts';
import { LIMITS, makeTasks, TIERS, type ShopTask } from './tasks.ts';
import { canonical, wordsOf } from './words.ts';

/** The words that the earliest system could search for; with `searchTerms: eighteen` there are no others. */
const EIGHTEEN_TERMS =
  'backpack black blanket blue boots bottle headphones jacket lamp loafers mug novel red running shirt shoes wallet watch'.split(' ');

/** Enough for the longest name; more would only be noise. */
const MOST_WORDS = 8;

export const shopSettings = z.strictObject({
  reward: z
    .enum(REWARD_NAMES)
    .default('binary')
    .describe(`What is paid for. ${REWARD_NAMES.map((name) => `${name}: ${REWARDS[name].source}`).join(' ')}`),
  decayAfter: z
    .int()
    .min(1)
    .max(15)
    .default(3)
    .describe('Searches until the search reward has become a penalty (1–15; only for the reward "decaying").'),
  maxSteps: z.int().min(1).max(100).default(15).describe('Steps after which an episode without a purchase ends (1–100).'),
  resultsShown: z.int().min(1).max(20).default(5).describe('Results that a search shows (1–20).'),
  maxReachableId: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'Highest product id that can be clicked or bought; 0 = all. 100 reproduces the limit that made 80% of the products impossible in an earlier system.',
    ),
  searchTerms: z
    .enum(['all', 'eighteen'])
    .default('all')
    .describe(`Words that may be searched for: all, or only the eighteen of an earlier system (${EIGHTEEN_TERMS.join(', ')}).`),
  catalog: z
    .string()
    .default('')
    .describe('Path of a catalog file of your own in the form of resources/shop/catalog.json; empty = the built-in one.'),
});

type ShopSettings = z.infer<typeof shopSettings>;

export type ShopState = {
  readonly task: string;
  readonly level: number;
  readonly steps: number;
  /** Searches so far, each as its canonical words in order. */
  readonly searches: readonly string[];
  /** Ids on the last results page. */
  readonly shown: readonly number[];
  /** The item page that is open, or null. */
  readonly open: number | null;
  /** Every item page looked at so far. */
  readonly clicked: readonly number[];
  /** A search has shown the target. */
  readonly found: boolean;
  readonly done: boolean;
};

/** The shop with what its own agents need beyond the common interface. */
export interface Shop extends Environment<ShopState> {
  readonly catalog: Catalog;
  /** Words worth searching for: of names and their synonyms, or the eighteen. */
  readonly searchable: ReadonlySet<string>;
  reachable(id: number): boolean;
  taskOf(state: ShopState): ShopTask;
  indexAt(level: number): SearchIndex;
}

type ShopAction = { kind: 'search'; text: string } | { kind: 'click' | 'buy'; product: Product } | { kind: 'invalid' };

export function createShop(input: unknown): Shop {
  const settings: ShopSettings = shopSettings.parse(input ?? {});
  const catalog = settings.catalog === '' ? loadCatalog() : loadCatalog(settings.catalog);
  const rewards = REWARDS[settings.reward];
  const indexes = Array.from({ length: LEVELS }, (_, level) => indexCatalog(catalog, level));
  const tasks = makeTasks(catalog);
  const taskById = new Map(tasks.map((task) => [task.id, task]));
  const ordered = new Map<Split, readonly ShopTask[]>();
  for (const split of splits) {
    ordered.set(split, Random.from('shop-order', split).shuffle(tasks.filter((task) => task.split === split)));
  }
  const terms = settings.searchTerms === 'eighteen' ? EIGHTEEN_TERMS : undefined;
  const useful =
    terms ?? [...new Set([...catalog.products.flatMap((product) => wordsOf(product.name)), ...Object.keys(catalog.sayings)])].sort();
  const reachable = (id: number): boolean => settings.maxReachableId === 0 || id <= settings.maxReachableId;
  const grammars: readonly Grammar[] = indexes.map(({ products }) => {
    const ids = products.filter((product) => reachable(product.id)).map((product) => String(product.id));
    return [
      [
        { kind: 'literal', text: 'search ' },
        { kind: 'words', max: MOST_WORDS, useful, ...(terms && { from: terms }) },
      ],
      ...(ids.length > 0 ? [[{ kind: 'literal', text: 'click ' } as const, { kind: 'choice', options: ids } as const]] : []),
      ...(ids.length > 0 ? [[{ kind: 'literal', text: 'buy ' } as const, { kind: 'choice', options: ids } as const]] : []),
    ];
  });

  function taskOf(state: ShopState): ShopTask {
    const task = taskById.get(state.task);
    if (!task) throw new Error(`The shop has no task "${state.task}": the state was made with another catalog`);
    return task;
  }

  function indexAt(level: number): SearchIndex {
    const index = indexes[level];
    if (!index) throw new RangeError(`The shop has levels 0 to ${LEVELS - 1}, not ${level}`);
    return index;
  }

  function parse(action: string, index: SearchIndex): ShopAction {
    const [verb, ...words] = tidy(action).split(' ');
    if (verb === 'search' && words.length >= 1 && words.length <= MOST_WORDS && (!terms || words.every((word) => terms.includes(word)))) {
      return { kind: 'search', text: words.join(' ') };
    }
    const [id] = words;
    if ((verb === 'click' || verb === 'buy') && words.length === 1 && id !== undefined && /^[1-9][0-9]{0,5}$/.test(id)) {
      const product = index.byId.get(Number(id));
      if (product && reachable(product.id)) return { kind: verb, product };
    }
    return { kind: 'invalid' };
  }

  const pageOf = (products: readonly Product[]): string =>
    products.map(({ name, category, price, id }) => `${name} ${category} $${price} ${id}`).join('; ');

  function reset(task: { readonly id: string }, _seed: number, level: number = LEVELS - 1): Turn<ShopState> {
    const index = indexAt(level);
    const state: ShopState = {
      task: task.id,
      level,
      steps: 0,
      searches: [],
      shown: [],
      open: null,
      clicked: [],
      found: false,
      done: false,
    };
    const { instruction, product } = taskOf(state);
    if (!index.byId.has(product.id))
      throw new Error(`Task ${task.id} is after product ${product.id}, which is not on the shelf at level ${level}`);
    return {
      state,
      observation: `TASK: ${instruction} Available: ${index.products.length} products across ${index.categories} categories.`,
      reward: 0,
      reason: 'start',
      done: false,
      valid: true,
      success: false,
      clickables: [],
      facts: { kind: 'start', reachable: reachable(product.id) },
    };
  }

  function step(state: ShopState, action: string): Turn<ShopState> {
    if (state.done) {
      return {
        state,
        observation: 'The episode is over.',
        reward: 0,
        reason: 'the episode is over',
        done: true,
        valid: false,
        success: false,
        clickables: [],
        facts: { kind: 'invalid' },
      };
    }
    const target = taskOf(state).product;
    const index = indexAt(state.level);
    const act = parse(action, index);
    const steps = state.steps + 1;
    const last = steps >= settings.maxSteps;
    let next: ShopState = { ...state, steps, done: last };
    let observation: string;
    let event: ShopEvent = { kind: act.kind, right: false, helpful: false, firstHelpful: false, searches: state.searches.length };
    let facts: Facts = {};
    switch (act.kind) {
      case 'search': {
        const query = canonical(act.text, catalog.synonyms).sort().join(' ');
        const results = index.search(act.text);
        const shown = results.slice(0, settings.resultsShown);
        const rank = results.indexOf(target);
        const targetShown = shown.includes(target);
        next = {
          ...next,
          searches: [...state.searches, query],
          shown: shown.map(({ id }) => id),
          open: null,
          found: state.found || targetShown,
        };
        observation = `Found ${results.length} results.${shown.length > 0 ? ` Top ${shown.length}: ${pageOf(shown)}` : ''}`;
        event = { ...event, helpful: targetShown, firstHelpful: targetShown && !state.found, searches: next.searches.length };
        facts = {
          results: results.length,
          targetShown,
          targetRank: rank < 0 ? null : rank + 1,
          repeated: state.searches.includes(query),
          helpful: targetShown && !state.found,
        };
        break;
      }
      case 'click': {
        const { id, name, price, category, description } = act.product;
        const right = act.product === target;
        next = { ...next, open: id, clicked: state.clicked.includes(id) ? state.clicked : [...state.clicked, id] };
        observation = `${name} $${price}. ${description} Category: ${category}. Product ${id}.`;
        event = { ...event, right };
        facts = { clicked: id, right, wasShown: state.shown.includes(id), repeated: state.clicked.includes(id) };
        break;
      }
      case 'buy': {
        const { id, name } = act.product;
        const right = act.product === target;
        next = { ...next, done: true };
        observation = `You bought ${name}.`;
        event = { ...event, right };
        facts = { bought: id, right, wasShown: state.shown.includes(id), targetShown: state.found };
        break;
      }
      case 'invalid':
        observation = 'Not possible. Say search and words, click and id, or buy and id.';
        facts = { targetShown: state.found };
    }
    const { reward, reason } = rewards.pay(event, settings.decayAfter);
    return {
      state: next,
      observation,
      reward,
      reason: last && act.kind !== 'buy' ? `${reason}; out of steps` : reason,
      done: next.done,
      valid: act.kind !== 'invalid',
      success: act.kind === 'buy' && event.right,
      clickables: next.done ? [] : next.shown.map(String),
      facts: { kind: act.kind, ...facts },
    };
  }

  /** Looks for the target as a reader would have to, then buys it: two steps, three where the category has to be seen. */
  function oracle(state: ShopState): string | undefined {
    const { product, constraint } = taskOf(state);
    if (state.done || !reachable(product.id)) return undefined;
    if (!state.shown.includes(product.id) && state.searches.length === 0) {
      const words = wordsOf(product.name).filter((word) => !terms || terms.includes(word));
      if (words.length > 0) return `search ${words.slice(0, MOST_WORDS).join(' ')}`;
    }
    if (constraint?.kind === 'category' && state.open !== product.id) return `click ${product.id}`;
    return `buy ${product.id}`;
  }

  function* corpus(): Generator<string> {
    const all = indexAt(LEVELS - 1);
    for (const { instruction } of tasks) yield instruction;
    for (const { name, category, price, description, id } of all.products)
      yield `${name} $${price}. ${description} Category: ${category}. Product ${id}.`;
    for (const [say, mean] of Object.entries(catalog.sayings)) yield `${say} ${mean}`;
    for (const limit of LIMITS) yield `$${limit}`;
    for (const index of indexes) yield `TASK: Available: ${index.products.length} products across ${index.categories} categories.`;
    for (let count = 0; count <= all.products.length; count++)
      yield `Found ${count} results. Top ${Math.min(count, settings.resultsShown)}:`;
    yield 'search click buy. You bought. Not possible. Say search and words, click and id, or buy and id. The episode is over.';
    yield 'find take look at is matches must be from below above';
  }

  return {
    name: 'shop',
    settings,
    maxSteps: settings.maxSteps,
    rewardRange: rewards.step,
    returnRange: [Math.min(0, rewards.step[0]) * settings.maxSteps, rewards.most(settings.maxSteps - 1, settings.decayAfter) + 1],
    categories: catalog.categories,
    tiers: TIERS,
    levels: LEVELS,
    tasks: (split, level = LEVELS - 1) => (ordered.get(split) ?? []).filter((task) => task.level <= level),
    reset,
    step,
    grammar: (state) => (state.done ? [] : (grammars[state.level] ?? [])),
    oracle,
    corpus,
    interchangeable: catalog.products.map(({ id }) => String(id)),
    concepts: conceptGroups(catalog),
    phrases: [...new Set(catalog.products.map(({ noun }) => wordsOf(noun).join(' ')))].filter((noun) => noun.includes(' ')),
    prices: exchangeablePrices(catalog),
    catalog,
    searchable: new Set(useful),
    reachable,
    taskOf,
    indexAt,
  };
}
