// The five kinds of page as the original shows them in text mode: the visible text nodes joined by ` [SEP] `, and what
// can be clicked, in the original's order. White space follows the original's HTML parser: a node of blanks alone leaves
// an empty segment, one with a line break in it vanishes, all others lose the blanks at their ends.

import type { Product } from './product.ts';
import { printFloat, strip } from './python.ts';

export type PageName = 'search' | 'results' | 'item' | 'description' | 'features' | 'reviews' | 'done';

export const BACK = 'back to search';
export const PREVIOUS = '< prev';
export const NEXT = 'next >';
export const BUY = 'buy now';
export const SUB_PAGES = ['description', 'features', 'reviews'] as const;
export type SubPage = (typeof SUB_PAGES)[number];

export const PAGE_LENGTH = 10;
const SEPARATOR = ' [SEP] ';

/** What a text node shows: nothing, or one segment. */
function node(text: string): readonly string[] {
  if (text === '') return [];
  if (/^[ \t\n\f\r]+$/.test(text)) return text.includes('\n') ? [] : [''];
  return [strip(text)];
}

const join = (segments: readonly string[]): string => segments.join(SEPARATOR);
const heading = (instruction: string): string[] => ['Instruction:', ...node(instruction), 'Back to Search'];

export function searchPage(instruction: string): string {
  return join(['WebShop', 'Instruction:', ...node(instruction), 'Search']);
}

export function resultsPage(instruction: string, page: number, total: number, products: readonly Product[]): string {
  const buttons = page > 1 ? ['< Prev', 'Next >'] : ['Next >'];
  const list = products.flatMap((product) => [...node(product.asin), ...node(product.title), ...node(product.priceTag)]);
  return join([...heading(instruction), `Page ${page} (Total results: ${total})`, ...buttons, ...list]);
}

export function resultsClickables(page: number, products: readonly Product[]): string[] {
  return unique([BACK, ...(page > 1 ? [PREVIOUS] : []), NEXT, ...products.map((product) => product.asin.toLowerCase())]);
}

const itemTexts = new WeakMap<Product, string>();

export function itemPage(instruction: string, product: Product): string {
  let text = itemTexts.get(product);
  if (text === undefined) {
    const options = product.options.flatMap(({ name, values }) => [...node(name), ...values.flatMap(node)]);
    const facts = [...node(product.title), ...node(`Price: ${product.priceTag}`), 'Rating: N.A.'];
    text = join(['< Prev', ...options, ...facts, 'Description', 'Features', 'Reviews', 'Buy Now']);
    itemTexts.set(product, text);
  }
  return join([...heading(instruction), text]);
}

const itemChoices = new WeakMap<Product, readonly string[]>();

/** The original would also list an empty value or the word `search`, but neither can be clicked there. */
export function itemClickables(product: Product): readonly string[] {
  let choices = itemChoices.get(product);
  if (choices === undefined) {
    const values = product.options.flatMap((group) => group.values).filter((value) => value !== '' && value !== 'search');
    choices = unique([BACK, PREVIOUS, ...SUB_PAGES, BUY, ...values]);
    itemChoices.set(product, choices);
  }
  return choices;
}

/** The group of an option value; a value that stands in two groups belongs to the later one. */
export function groupOf(product: Product, value: string): string | undefined {
  return product.options.findLast((group) => group.values.includes(value))?.name;
}

export function subPage(instruction: string, product: Product, page: SubPage): string {
  const top = [...heading(instruction), '< Prev'];
  switch (page) {
    case 'description':
      return join([...top, ...node(product.description)]);
    case 'features':
      return join([...top, ...product.bullets.flatMap((bullet) => node(` ${bullet}`))]);
    case 'reviews':
      return join(top);
  }
}

export const SUB_PAGE_CLICKABLES: readonly string[] = [BACK, PREVIOUS];

export function donePage(asin: string, options: readonly (readonly [string, string])[], reward: number): string {
  const sorted = [...options].sort(([a], [b]) => (a < b ? -1 : 1));
  const chosen = `{${sorted.map(([name, value]) => `${safeJson(name)}: ${safeJson(value)}`).join(', ')}}`;
  const bought = ['asin', asin, 'options', chosen, 'attrs', 'None', 'category', 'None', 'query', 'None', 'product category', 'None'];
  const target = ['asin', 'options', 'attrs', 'price upper', 'instuction text', 'category', 'product category', 'query', 'Goal', 'None'];
  return join([
    'Thank you for shopping with us!',
    'Your code:',
    'None',
    '(Paste it in your MTurk interface.)',
    'Purchased',
    ...bought,
    'Target',
    ...target,
    'Reward',
    'Your score (min 0.0, max 1.0)',
    printFloat(reward),
    'Reward Details',
    'None',
  ]);
}

/** JSON as the original's templates write it: ASCII only, and safe inside HTML. */
function safeJson(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]|[<>&']/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
