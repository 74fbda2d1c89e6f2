// What each action does in the shop. A step is pure: the stock and a state go in, the next turn comes out.

import type { Facts, Turn } from '../environment.ts';
import { tidy } from '../grammar.ts';
import type { Wish } from './baskets.ts';
import type { Product } from './catalog.ts';
import { type Details, detailsText } from './details.ts';
import { REWARDS, type ShopEvent } from './rewards.ts';
import type { SearchIndex } from './search.ts';
import { MOST_WORDS, type Stock } from './stock.ts';
import { targetsOf } from './tasks.ts';
import { canonical } from './words.ts';

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
  /** Of a long task: what was bought so far. */
  readonly basket?: readonly number[];
  readonly done: boolean;
};

type ShopAction = { kind: 'search'; text: string } | { kind: 'click' | 'buy'; product: Product } | { kind: 'invalid' };

/** What an action changes, shows and is paid for. */
interface Effect {
  readonly state: ShopState;
  readonly observation: string;
  readonly event: ShopEvent;
  readonly facts: Facts;
}

export function reset(stock: Stock, task: { readonly id: string }, level: number = stock.levels - 1): Turn<ShopState> {
  const index = stock.indexAt(level);
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
  const wanted = stock.taskOf(state);
  const targets = targetsOf(wanted);
  const missing = targets.find(({ id }) => !index.byId.has(id));
  if (missing) throw new Error(`Task ${task.id} is after product ${missing.id}, which is not on the shelf at level ${level}`);
  return {
    state,
    observation: `TASK: ${wanted.instruction} Available: ${index.products.length} products across ${index.categories} categories.`,
    reward: 0,
    reason: 'start',
    done: false,
    valid: true,
    success: false,
    clickables: [],
    facts: { kind: 'start', reachable: targets.every(({ id }) => stock.reachable(id)) },
  };
}

/** Whatever is said after the end. */
const over = (state: ShopState): Turn<ShopState> => ({
  state,
  observation: 'The episode is over.',
  reward: 0,
  reason: 'the episode is over',
  done: true,
  valid: false,
  success: false,
  clickables: [],
  facts: { kind: 'invalid' },
});

export function step(stock: Stock, state: ShopState, action: string): Turn<ShopState> {
  if (state.done) return over(state);
  const { settings } = stock;
  const act = parse(stock, action, stock.indexAt(state.level));
  const steps = state.steps + 1;
  const last = steps >= settings.maxSteps;
  const { state: next, observation, event, facts } = effectOf(stock, { ...state, steps, done: last }, act);
  const { reward, reason } = REWARDS[settings.reward].pay(event, settings.decayAfter);
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

function parse({ terms, reachable }: Stock, action: string, index: SearchIndex): ShopAction {
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

/** `state` has the step counted already. */
function effectOf(stock: Stock, state: ShopState, act: ShopAction): Effect {
  switch (act.kind) {
    case 'search':
      return search(stock, state, act.text);
    case 'click':
      return click(stock, state, act.product);
    case 'buy':
      return buy(stock, state, act.product);
    case 'invalid':
      return {
        state,
        observation: 'Not possible. Say search and words, click and id, or buy and id.',
        event: eventOf('invalid', state),
        facts: { targetShown: state.found },
      };
  }
}

/** The products that are still to be bought. */
function remaining(stock: Stock, state: ShopState): readonly Product[] {
  return targetsOf(stock.taskOf(state)).filter(({ id }) => !(state.basket ?? []).includes(id));
}

const eventOf = (kind: ShopEvent['kind'], state: ShopState, right = false): ShopEvent => ({
  kind,
  right,
  helpful: false,
  firstHelpful: false,
  overlaps: false,
  mismatch: false,
  searches: state.searches.length,
});

function search(stock: Stock, state: ShopState, text: string): Effect {
  const targets = remaining(stock, state);
  const query = canonical(text, stock.catalog.synonyms).sort().join(' ');
  const results = stock.indexAt(state.level).search(text);
  const shown = results.slice(0, stock.settings.resultsShown);
  const intent = stock.taskOf(state).words;
  const overlaps = query.split(' ').some((word) => intent.includes(word));
  const rank = results.findIndex((product) => targets.includes(product));
  const targetShown = shown.some((product) => targets.includes(product));
  const firstHelpful = targetShown && !state.found;
  const next = {
    ...state,
    searches: [...state.searches, query],
    shown: shown.map(({ id }) => id),
    open: null,
    found: state.found || targetShown,
  };
  const facts = {
    results: results.length,
    targetShown,
    targetRank: rank < 0 ? null : rank + 1,
    repeated: state.searches.includes(query),
    helpful: firstHelpful,
  };
  return {
    state: next,
    observation: `Found ${results.length} results.${shown.length > 0 ? ` Top ${shown.length}: ${shown.map(resultText).join('; ')}` : ''}`,
    event: { ...eventOf('search', next), helpful: targetShown, firstHelpful, overlaps },
    facts,
  };
}

/** A product as a page of results shows it. */
export const resultText = ({ name, category, price, id }: Product): string => `${name} ${category} $${price} ${id}`;

function click(stock: Stock, state: ShopState, product: Product): Effect {
  const { id } = product;
  const targets = remaining(stock, state);
  const right = targets.includes(product);
  const repeated = state.clicked.includes(id);
  return {
    state: { ...state, open: id, clicked: repeated ? state.clicked : [...state.clicked, id] },
    observation: itemText(product, stock.pageOf(id, stock.taskOf(state))),
    event: { ...eventOf('click', state, right), mismatch: targets.every(({ category }) => category !== product.category) },
    facts: { clicked: id, right, wasShown: state.shown.includes(id), repeated },
  };
}

export const itemText = ({ id, name, price, category, description }: Product, details?: Details): string =>
  `${name} $${price}. ${description}${details ? ` ${detailsText(details)}` : ''} Category: ${category}. Product ${id}.`;

function buy(stock: Stock, state: ShopState, product: Product): Effect {
  const task = stock.taskOf(state);
  if (task.wishes) return buyPart(stock, state, product, task.wishes);
  const { id, name } = product;
  const right = product === task.product;
  return {
    state: { ...state, done: true },
    observation: `You bought ${name}.`,
    event: eventOf('buy', state, right),
    facts: { bought: id, right, wasShown: state.shown.includes(id), targetShown: state.found },
  };
}

/** A purchase of a long task: a wrong one ends the episode, a right one only if nothing is left to buy. */
function buyPart(stock: Stock, state: ShopState, product: Product, wishes: readonly Wish[]): Effect {
  const { id, name, noun } = product;
  const left = remaining(stock, state);
  const right = left.includes(product);
  const complete = right && left.length === 1;
  const before = wishes.length - left.length;
  // Only a page could have told that this is not the one.
  const unread = !state.clicked.includes(id) && wishes.some((wish) => wish.product.noun === noun && wish.by !== 'price');
  const next = { ...state, basket: [...(state.basket ?? []), id], shown: [], open: null, found: false };
  return {
    state: { ...next, done: state.done || !right || complete },
    observation: right && !complete ? `You bought ${name}. More to buy.` : `You bought ${name}.`,
    event: { ...eventOf('buy', state, complete), part: right ? 1 / wishes.length : 0, last: complete },
    facts: { bought: id, right, complete, before, of: wishes.length, unread, wasShown: state.shown.includes(id), targetShown: state.found },
  };
}
