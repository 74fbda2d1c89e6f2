// The original WebShop in text mode as a world: a customer's wish, a search over the catalog, pages to read, options to
// choose, one purchase that ends the episode and is paid between 0 and 1. Success is a reward of exactly 1. Actions are
// `search[words]` and `click[thing]`, read exactly as the original reads them: whatever it can't use changes nothing.

import { dirname, join } from 'node:path';
import type { Environment, Facts, Grammar, Plain, Task, Turn } from '../environment.ts';
import { locate, openCatalog } from './catalog.ts';
import { type GoalList, Goals, priceOf } from './goals.ts';
import { HumanGoals } from './human.ts';
import { readWish, searchWords } from './instruction.ts';
import { BACK, BUY, NEXT, PAGE_LENGTH, PREVIOUS, type PageName, SUB_PAGES, SUB_PAGE_CLICKABLES, type SubPage } from './pages.ts';
import { donePage, groupOf, itemClickables, itemPage, resultsClickables, resultsPage, searchPage, subPage } from './pages.ts';
import type { Product } from './product.ts';
import { judge } from './reward.ts';
import { type WebShopSettings, webshopSettings } from './settings.ts';
import type { Catalog, Progress } from './source.ts';
import { TIERS, Tasks } from './tasks.ts';
import { viewCorpus, viewOf } from './view.ts';
import { splits } from '../../vocabulary.ts';

/** Everything that decides what comes next; pages and results follow from it. */
export interface WebShopState {
  readonly [key: string]: Plain;
  readonly goal: number;
  /** The wish as this episode's customer says it; its price limit counts. */
  readonly instruction: string;
  readonly page: PageName;
  readonly query: string;
  readonly resultsPage: number;
  readonly asin: string;
  /** Chosen options, in the order of their first choice. The original does not show them. */
  readonly options: readonly (readonly [name: string, value: string])[];
  /** Actions that changed something, oldest first: what a customer remembers. */
  readonly history: readonly string[];
  readonly steps: number;
  /** Whether the wanted product was ever on a result page. */
  readonly found: boolean;
}

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

/** `(.+)\[(.+)\]` at the beginning, where a dot is anything but a line break; found without backtracking. */
export function parseAction(action: string): { readonly name: string; readonly argument: string } | undefined {
  const end = action.indexOf('\n');
  const line = end < 0 ? action : action.slice(0, end);
  const close = line.lastIndexOf(']');
  const open = close < 2 ? -1 : line.lastIndexOf('[', close - 2);
  return open < 1 ? undefined : { name: line.slice(0, open), argument: line.slice(open + 1, close).toLowerCase() };
}

const MOST_CACHED = 2000;
const MOST_CACHED_LENGTH = 1_000_000;

export function createWebShop(given: unknown, progress?: Progress): WebShop {
  const settings = webshopSettings.parse(given ?? {});
  const files = locate(settings.dataFolder, settings.set);
  const catalog = openCatalog(files, progress);
  const goals: GoalList =
    settings.goals === 'human'
      ? new HumanGoals(catalog, settings.seed, join(dirname(files.products), 'items_human_ins.json'))
      : new Goals(catalog, settings.seed);
  const tasks = new Tasks(catalog, goals, settings);
  const searches = new Map<string, Int32Array>();
  let cachedLength = 0;
  const grammars = new Map<string, Grammar>();

  function hits(query: string): Int32Array {
    let found = searches.get(query);
    if (found === undefined) {
      found = catalog.search(query);
      // A query may be a megabyte long: few of those are kept.
      cachedLength += query.length;
      if (cachedLength > MOST_CACHED_LENGTH) {
        searches.clear();
        cachedLength = query.length;
      }
      searches.set(query, found);
    }
    return found;
  }

  function results(state: WebShopState): readonly Product[] {
    const from = (state.resultsPage - 1) * PAGE_LENGTH;
    return Array.from(hits(state.query).subarray(from, from + PAGE_LENGTH), (document) => catalog.product(document));
  }

  function productOf(state: WebShopState): Product {
    const document = catalog.find(state.asin);
    if (document === undefined) throw new Error(`The state is of another catalog: it has no product '${state.asin}'`);
    return catalog.product(document);
  }

  function clickables(state: WebShopState): readonly string[] {
    switch (state.page) {
      case 'search':
      case 'done':
        return [];
      case 'results':
        return resultsClickables(state.resultsPage, results(state));
      case 'item':
        return itemClickables(productOf(state));
      default:
        return SUB_PAGE_CLICKABLES;
    }
  }

  function observe(state: WebShopState): string {
    switch (state.page) {
      case 'search':
        return searchPage(state.instruction);
      case 'results':
        return resultsPage(state.instruction, state.resultsPage, hits(state.query).length, results(state));
      case 'item':
        return itemPage(state.instruction, productOf(state));
      case 'done':
        return 'The episode is over.';
      default:
        return subPage(state.instruction, productOf(state), state.page);
    }
  }

  function reset(task: Task): Turn<WebShopState> {
    const number = /^goal-(\d+)$/.exec(task.id)?.[1];
    const goal = number === undefined ? Number.NaN : Number(number);
    if (!(goal < goals.size)) throw new Error(`There is no task '${task.id}' here: this catalog gives goal-0 to goal-${goals.size - 1}`);
    const { instruction } = task;
    const state: WebShopState = {
      goal,
      instruction,
      page: 'search',
      query: '',
      resultsPage: 1,
      asin: '',
      options: [],
      history: [],
      steps: 0,
      found: false,
    };
    return turn(state, { kind: 'start' }, { reason: 'start', observation: searchPage(instruction) });
  }

  function turn(state: WebShopState, facts: Facts, rest: Partial<Turn<WebShopState>>): Turn<WebShopState> {
    return {
      state,
      observation: rest.observation ?? observe(state),
      reward: 0,
      reason: '',
      done: state.page === 'done',
      valid: true,
      success: false,
      clickables: clickables(state),
      facts,
      ...rest,
    };
  }

  function step(state: WebShopState, action: string): Turn<WebShopState> {
    if (state.page === 'done') return turn(state, { kind: 'invalid' }, { valid: false, reason: 'the episode is over' });
    const counted = { ...state, steps: state.steps + 1 };
    const parsed = parseAction(action);
    let answer: Turn<WebShopState> | undefined;
    if (parsed?.name === 'search') answer = search(counted, parsed.argument);
    else if (parsed?.name === 'click' && clickables(state).includes(parsed.argument)) answer = click(counted, parsed.argument);
    answer ??= turn(counted, { kind: 'invalid', targetShown: state.found }, { valid: false, reason: 'nothing happens' });
    if (answer.done || counted.steps < settings.maxSteps) return answer;
    const reason = `${answer.reason}; out of steps`;
    return { ...answer, state: { ...answer.state, page: 'done' }, reason, done: true, clickables: [] };
  }

  function target(state: WebShopState): Product {
    return catalog.product(goals.documentOf(state.goal));
  }

  /** The place of the wanted product among all results, from 0, or −1. */
  function targetRank(state: WebShopState): number {
    return hits(state.query).indexOf(goals.documentOf(state.goal));
  }

  function isOnPage(state: WebShopState): boolean {
    const rank = targetRank(state);
    return rank >= 0 && Math.floor(rank / PAGE_LENGTH) === state.resultsPage - 1;
  }

  function search(state: WebShopState, query: string): Turn<WebShopState> {
    const said = `search[${query}]`;
    const repeated = state.history.includes(said);
    return show({ ...state, query, resultsPage: 1, history: [...state.history, said] }, 'search', { repeated });
  }

  /** A result page: choosing begins anew. */
  function show(state: WebShopState, kind: string, facts: Facts): Turn<WebShopState> {
    const next: WebShopState = { ...state, page: 'results', asin: '', options: [] };
    const rank = targetRank(next);
    const targetShown = isOnPage(next);
    const count = hits(next.query).length;
    const seen = { results: count, targetShown, targetRank: rank < 0 ? null : rank + 1, helpful: targetShown && !state.found };
    return turn({ ...next, found: state.found || targetShown }, { kind, ...seen, ...facts }, { reason: 'no reward before a purchase' });
  }

  function click(before: WebShopState, thing: string): Turn<WebShopState> {
    const state = { ...before, history: [...before.history, `click[${thing}]`] };
    const facts = { kind: 'click', clicked: thing };
    const reason = 'no reward before a purchase';
    if (thing === BUY) return buy(state);
    if (thing === BACK) return turn({ ...state, page: 'search', query: '', resultsPage: 1, asin: '', options: [] }, facts, { reason });
    if (state.page === 'results') {
      if (thing === NEXT) return show({ ...state, resultsPage: state.resultsPage + 1 }, 'click', facts);
      if (thing === PREVIOUS) return show({ ...state, resultsPage: state.resultsPage - 1 }, 'click', facts);
      const asin = results(state).find((product) => product.asin.toLowerCase() === thing)?.asin ?? '';
      const repeated = before.history.includes(`click[${thing}]`);
      const opened = { right: asin === target(state).asin, wasShown: true, repeated };
      return turn({ ...state, page: 'item', asin, options: [] }, { ...facts, ...opened }, { reason });
    }
    if (thing === PREVIOUS)
      return state.page === 'item' ? show(state, 'click', facts) : turn({ ...state, page: 'item' }, facts, { reason });
    const page = SUB_PAGES.find((name): name is SubPage => name === thing);
    if (page !== undefined) return turn({ ...state, page }, facts, { reason });
    const name = groupOf(productOf(state), thing) ?? '';
    const others = state.options.some(([known]) => known === name)
      ? state.options.map((option): readonly [string, string] => (option[0] === name ? [name, thing] : option))
      : [...state.options, [name, thing] as const];
    const right = goals.goal(state.goal).options.some(([, value]) => value === thing);
    return turn({ ...state, options: others }, { ...facts, option: name, right }, { reason });
  }

  function buy(state: WebShopState): Turn<WebShopState> {
    const goal = goals.goal(state.goal);
    const bought = productOf(state);
    const wanted = target(state);
    const { limit } = readWish(state.instruction);
    const chosen = state.options.map(([, value]) => value);
    const found = judge(bought, chosen, priceOf(bought, settings.seed), goal, limit, wanted);
    const { reward, type, attributes, options, price } = found;
    const facts = {
      kind: 'buy',
      bought: bought.asin,
      right: bought.asin === wanted.asin,
      wasShown: true,
      targetShown: state.found,
      type,
      attributes: `${attributes}/${goal.attributes.length}`,
      options: `${options}/${goal.options.length}`,
      price,
    };
    const parts = `${facts.attributes} attributes, ${facts.options} options, price ${price ? 'fits' : 'too high'}`;
    const reason = `bought ${bought.asin}: kind of product ${type} × (${parts})`;
    const observation = donePage(bought.asin, state.options, reward);
    return turn({ ...state, page: 'done' }, facts, { reward, reason, observation, done: true, success: reward === 1 });
  }

  function grammar(state: WebShopState): Grammar {
    if (state.page === 'done') return [];
    const choices = clickables(state);
    const key = `${state.instruction}\n${choices.join('\n')}`;
    let known = grammars.get(key);
    if (known === undefined) {
      const words = { kind: 'words', max: settings.queryWords, useful: searchWords(state.instruction) } as const;
      const end = { kind: 'literal', text: ']' } as const;
      known = [[{ kind: 'literal', text: 'search[' }, words, end]];
      if (choices.length > 0) known = [...known, [{ kind: 'literal', text: 'click[' }, { kind: 'choice', options: choices }, end]];
      if (grammars.size >= MOST_CACHED) grammars.clear();
      grammars.set(key, known);
    }
    return known;
  }

  /** Looks for the product by its own title, chooses what is wanted, buys. */
  function oracle(state: WebShopState): string | undefined {
    if (state.page === 'done') return undefined;
    const goal = goals.goal(state.goal);
    const wanted = target(state);
    if (state.page === 'results' && isOnPage(state)) return `click[${wanted.asin.toLowerCase()}]`;
    if (state.page !== 'search' && state.page !== 'results' && state.asin === wanted.asin) {
      if (state.page !== 'item') return `click[${PREVIOUS}]`;
      const offered = itemClickables(wanted);
      const missing = goal.options.find(([name, value]) => offered.includes(value) && !has(state, groupOf(wanted, value) ?? name, value));
      return `click[${missing?.[1] ?? BUY}]`;
    }
    const query = `search[${wanted.title.toLowerCase().replace(/[[\]\n]/g, ' ')}]`;
    if (state.page === 'results' && state.history.includes(query) && state.resultsPage * PAGE_LENGTH < hits(state.query).length)
      return `click[${NEXT}]`;
    return query;
  }

  const categories = new Set<string>();
  for (const split of splits) for (const task of tasks.list(split)) categories.add(task.category);

  function* corpus(): Generator<string> {
    yield 'search[ ] click[ ] webshop instruction page total results rating n.a. [sep] back to search < prev next > description features reviews buy now';
    for (const task of tasks.list('train')) yield task.instruction;
    for (let document = 0; document < Math.min(catalog.size, MOST_IN_CORPUS); document++) {
      const product = catalog.product(document);
      yield itemPage('', product);
      yield `${product.asin} ${product.asin.toLowerCase()} ${product.description} ${product.bullets.join(' ')}`;
    }
  }

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
    reset,
    step,
    grammar,
    ...(settings.view !== 'page' && { view: (state: WebShopState) => viewOf(shop, state) }),
    oracle,
    corpus: () => (settings.view === 'page' ? corpus() : viewCorpus(shop)),
    interchangeable: [],
    catalog,
    goals,
    findTask: (instruction) => tasks.find(instruction),
    results,
    productOf,
  };
  return shop;
}

const MOST_IN_CORPUS = 20_000;

function has(state: WebShopState, name: string, value: string): boolean {
  return state.options.some(([known, chosen]) => known === name && chosen === value);
}
