// What each action does, read exactly as the original reads it: whatever it cannot use changes nothing. Pure: the site and a
// state go in, the next turn comes out.

import type { Facts, Task, Turn } from '../environment.ts';
import { priceOf } from './goals.ts';
import { readWish } from './instruction.ts';
import { BACK, BUY, donePage, groupOf, NEXT, PREVIOUS, searchPage, SUB_PAGES, type SubPage } from './pages.ts';
import { judge } from './reward.ts';
import type { Site, WebShopState } from './site.ts';

/** `(.+)\[(.+)\]` at the beginning, where a dot is anything but a line break; found without backtracking. */
export function parseAction(action: string): { readonly name: string; readonly argument: string } | undefined {
  const end = action.indexOf('\n');
  const line = end < 0 ? action : action.slice(0, end);
  const close = line.lastIndexOf(']');
  const open = close < 2 ? -1 : line.lastIndexOf('[', close - 2);
  return open < 1 ? undefined : { name: line.slice(0, open), argument: line.slice(open + 1, close).toLowerCase() };
}

export function reset(site: Site, task: Task): Turn<WebShopState> {
  const number = /^goal-(\d+)$/.exec(task.id)?.[1];
  const goal = number === undefined ? Number.NaN : Number(number);
  if (!(goal < site.goals.size))
    throw new Error(`There is no task '${task.id}' here: this catalog gives goal-0 to goal-${site.goals.size - 1}`);
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
  return turn(site, state, { kind: 'start' }, { reason: 'start', observation: searchPage(instruction) });
}

export function step(site: Site, state: WebShopState, action: string): Turn<WebShopState> {
  if (state.page === 'done') return turn(site, state, { kind: 'invalid' }, { valid: false, reason: 'the episode is over' });
  const counted = { ...state, steps: state.steps + 1 };
  const parsed = parseAction(action);
  let answer: Turn<WebShopState> | undefined;
  if (parsed?.name === 'search') answer = search(site, counted, parsed.argument);
  else if (parsed?.name === 'click' && site.clickables(state).includes(parsed.argument)) answer = click(site, counted, parsed.argument);
  answer ??= turn(site, counted, { kind: 'invalid', targetShown: state.found }, { valid: false, reason: 'nothing happens' });
  if (answer.done || counted.steps < site.settings.maxSteps) return answer;
  const reason = `${answer.reason}; out of steps`;
  return { ...answer, state: { ...answer.state, page: 'done' }, reason, done: true, clickables: [] };
}

function turn(site: Site, state: WebShopState, facts: Facts, rest: Partial<Turn<WebShopState>>): Turn<WebShopState> {
  return {
    state,
    observation: rest.observation ?? site.observe(state),
    reward: 0,
    reason: '',
    done: state.page === 'done',
    valid: true,
    success: false,
    clickables: site.clickables(state),
    facts,
    ...rest,
  };
}

function search(site: Site, state: WebShopState, query: string): Turn<WebShopState> {
  const said = `search[${query}]`;
  const repeated = state.history.includes(said);
  return show(site, { ...state, query, resultsPage: 1, history: [...state.history, said] }, 'search', { repeated });
}

/** A result page: choosing begins anew. */
function show(site: Site, state: WebShopState, kind: string, facts: Facts): Turn<WebShopState> {
  const next: WebShopState = { ...state, page: 'results', asin: '', options: [] };
  const rank = site.targetRank(next);
  const targetShown = site.isOnPage(next);
  const count = site.hits(next.query).length;
  const seen = { results: count, targetShown, targetRank: rank < 0 ? null : rank + 1, helpful: targetShown && !state.found };
  return turn(site, { ...next, found: state.found || targetShown }, { kind, ...seen, ...facts }, { reason: 'no reward before a purchase' });
}

function click(site: Site, before: WebShopState, thing: string): Turn<WebShopState> {
  const state = { ...before, history: [...before.history, `click[${thing}]`] };
  const facts = { kind: 'click', clicked: thing };
  const reason = 'no reward before a purchase';
  if (thing === BUY) return buy(site, state);
  if (thing === BACK) return turn(site, { ...state, page: 'search', query: '', resultsPage: 1, asin: '', options: [] }, facts, { reason });
  if (state.page === 'results') {
    if (thing === NEXT) return show(site, { ...state, resultsPage: state.resultsPage + 1 }, 'click', facts);
    if (thing === PREVIOUS) return show(site, { ...state, resultsPage: state.resultsPage - 1 }, 'click', facts);
    const asin = site.results(state).find((product) => product.asin.toLowerCase() === thing)?.asin ?? '';
    const repeated = before.history.includes(`click[${thing}]`);
    const opened = { right: asin === site.target(state).asin, wasShown: true, repeated };
    return turn(site, { ...state, page: 'item', asin, options: [] }, { ...facts, ...opened }, { reason });
  }
  if (thing === PREVIOUS)
    return state.page === 'item' ? show(site, state, 'click', facts) : turn(site, { ...state, page: 'item' }, facts, { reason });
  const page = SUB_PAGES.find((name): name is SubPage => name === thing);
  if (page !== undefined) return turn(site, { ...state, page }, facts, { reason });
  const name = groupOf(site.productOf(state), thing) ?? '';
  const others = state.options.some(([known]) => known === name)
    ? state.options.map((option): readonly [string, string] => (option[0] === name ? [name, thing] : option))
    : [...state.options, [name, thing] as const];
  const right = site.goals.goal(state.goal).options.some(([, value]) => value === thing);
  return turn(site, { ...state, options: others }, { ...facts, option: name, right }, { reason });
}

function buy(site: Site, state: WebShopState): Turn<WebShopState> {
  const goal = site.goals.goal(state.goal);
  const bought = site.productOf(state);
  const wanted = site.target(state);
  const { limit } = readWish(state.instruction);
  const chosen = state.options.map(([, value]) => value);
  const found = judge(bought, chosen, priceOf(bought, site.settings.seed), goal, limit, wanted);
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
  return turn(site, { ...state, page: 'done' }, facts, { reward, reason, observation, done: true, success: reward === 1 });
}
