// What the worlds with purchases share: how they fail, and how their pages are drawn.

import { type FailureClass, loopIn, type PlayedStep } from './failures.ts';
import type { DrawnPage, PageEntry } from './page.ts';
import type { Facts, Mistake } from './environment.ts';

const WRONG_PURCHASE: FailureClass = {
  id: 'wrong-purchase',
  title: 'Wrong purchases',
  meaning: 'Wrong purchase: buys the wrong product',
  counted: 'Episodes that end with a wrong purchase',
  detect(steps) {
    const last = steps.at(-1);
    return last && (last.facts.bought !== undefined || last.facts.kind === 'buy') ? wrongPurchase(last, steps.length) : undefined;
  },
};

function wrongPurchase(last: PlayedStep, count: number): string {
  const what = `Decided with “${last.action}” after ${count} ${count === 1 ? 'step' : 'steps'}`;
  if (last.facts.right === true) return `${what}: the right thing, but not all that was asked for was right about it.`;
  const target = last.facts.targetShown ?? null;
  if (target === true) return `${what}, although the right one had been shown.`;
  if (target === false) return `${what}; the right one had never been shown.`;
  return `${what}, which was wrong.`;
}

const SEARCH_LOOP: FailureClass = {
  id: 'search-loop',
  title: 'Search loops',
  meaning: 'Search loop: repeats itself and never buys',
  counted: 'Episodes that repeat searches and never decide',
  detect(steps) {
    const loop = loopIn(steps);
    if (!loop) return undefined;
    const searches = steps.filter((step) => step.facts.kind === 'search').length;
    const what = searches > 0 ? `Searched ${searches} times` : `Acted ${steps.length} times`;
    return `${what}, ${loop.repeats} steps repeated an earlier one${loop.favourite}, and nothing was bought.`;
  },
};

export const PURCHASE_FAILURES: readonly FailureClass[] = [WRONG_PURCHASE, SEARCH_LOOP];

export const PURCHASE_MISTAKES = {
  wrongWord: { chance: 0.4, meaning: 'Chance that a demonstrated search uses a wrong or too literal word.' },
  earlyPurchase: { chance: 0.4, meaning: 'Chance that the demonstrator buys before it has looked closely enough.' },
  uselessClick: { chance: 0.1, meaning: 'Chance of a step that brings nothing.' },
} as const satisfies Readonly<Record<string, Mistake>>;
/** Of the shop alone. Not quite a mistake: searching for either finds the product. */
export const SHOP_MISTAKES = {
  ...PURCHASE_MISTAKES,
  userWords: {
    chance: 0.5,
    meaning: 'Chance that a demonstrated search is in the words of the user instead of those of the shop.',
    added: true,
  },
} as const satisfies Readonly<Record<string, Mistake>>;
export type ShopMistakes = Readonly<Record<keyof typeof SHOP_MISTAKES, number>>;
export type PurchaseMistakes = Readonly<Record<keyof typeof PURCHASE_MISTAKES, number>>;

const FIELD = 'Search the shop';

export const startPage = (instruction: string, note: string): DrawnPage => ({
  kind: 'start',
  heading: 'The user wants',
  instruction,
  note,
  field: FIELD,
});

export function resultsList(total: number, page: number, entries: readonly PageEntry[]): DrawnPage {
  const some = entries.length < total && entries.length > 0 ? `, the first ${entries.length} shown` : '';
  const summary = `${total} ${total === 1 ? 'result' : 'results'}${some}${page > 1 ? `, page ${page}` : ''}`;
  return { kind: 'list', summary, entries, empty: 'No results.', field: FIELD };
}

export function boughtPage(name: string, facts: Facts): DrawnPage {
  const right = typeof facts.right === 'boolean' ? facts.right : null;
  return { kind: 'end', heading: 'Bought', name, right, verdict: right === null ? '' : right ? 'correct product' : 'wrong product' };
}
