// The shop in short, for a policy that cannot read pages of 500 words: each page in some ten to sixty words, each click as one
// sentence. It says only what a customer sees on the page, remembers from this episode, or finds by comparing words with the
// wish; it knows nothing of the goal. `words` also spells the wish and the first words of titles, `marks` does not.
//
//   wish 5 machine wash men's shirts options 2 color size limit
//   results 1 left 14 nautica men's solid 9 4 101 amazon essentials men's 9 3 over 102 …
//   item 9 4 lacks 1 left 13 color yes 201 size near 202 near 203

import type { View } from '../environment.ts';
import { NO_LIMIT } from './goals.ts';
import { type Wish, readWish, wordsOf } from './instruction.ts';
import { BUY, NEXT, PREVIOUS } from './pages.ts';
import type { Product } from './product.ts';
import { attributesOf, queryFor } from './rules.ts';
import type { WebShopState } from './site.ts';
import type { WebShop } from './webshop.ts';
import { splits } from '../../base/vocabulary.ts';

/** Results and options are numbered from here, so that their numbers are no sizes or prices. */
const FIRST_RESULT = 101;
const FIRST_OPTION = 201;
const TITLE_WORDS = 3;
/** Values that are shown for a wished option that is not offered as it was said. */
const NEAR_VALUES = 2;
const OPTIONS_SHOWN = 12;

/** What may be searched for: the wish without its options, with them, and with them said more often so that they count more. */
export const SEARCHES = ['wish', 'all', 'options', 'values'] as const;
export type Search = (typeof SEARCHES)[number];

export function searchText(kind: Search, wish: Wish): string {
  const values = wish.options.flatMap(([, value]) => wordsOf(value));
  const base = wordsOf(wish.base);
  const words = {
    wish: () => base,
    all: () => [...base, ...values],
    options: () => [queryFor(wish), ...values, ...values],
    values: () => (values.length > 0 ? values : base),
  }[kind]();
  return words.join(' ') || 'product';
}

/** A product as the wish sees it. Everything here can be read on its pages. */
interface Comparison {
  /** Tenths of the words of the wished kind, and of all wished words, that the title contains. */
  readonly kind: number;
  readonly title: number;
  /** Wished attributes that were not found in what was read of it. */
  readonly lacks: number;
  /** For each wished option the values that come closest; `exact` when it is offered as it was said. */
  readonly options: readonly { readonly name: string; readonly exact: boolean; readonly values: readonly string[] }[];
}

interface Opened {
  readonly asin: string;
  readonly read: ReadonlySet<string>;
}

/** The products opened so far, with the sub-pages that were read of each. */
function openedProducts(shop: WebShop, state: WebShopState): ReadonlyMap<string, Opened> {
  const opened = new Map<string, { asin: string; read: Set<string> }>();
  let last: { asin: string; read: Set<string> } | undefined;
  for (const action of state.history) {
    if (!action.startsWith('click[')) continue;
    const thing = action.slice('click['.length, -1);
    if (thing === 'features' || thing === 'description') last?.read.add(thing);
    else if (shop.catalog.find(thing.toUpperCase()) !== undefined) {
      const asin = thing.toUpperCase();
      last = opened.get(asin) ?? { asin, read: new Set() };
      opened.set(asin, last);
    }
  }
  return opened;
}

export function compare(product: Product, wish: Wish, read: ReadonlySet<string> = new Set()): Comparison {
  const title = product.title.toLowerCase();
  const attributes = attributesOf(wish.base);
  const known = [title, read.has('features') ? product.bullets.join(' ') : '', read.has('description') ? product.description : '']
    .join(' ')
    .toLowerCase();
  const said = wordsOf(wish.base);
  const ofAttributes = new Set(attributes.flatMap((attribute) => attribute.split(' ')));
  const kind = said.filter((word) => !ofAttributes.has(word));
  return {
    kind: tenths(kind, title),
    title: tenths(said, title),
    lacks: Math.min(9, attributes.filter((attribute) => !attribute.split(' ').every((word) => contains(known, word))).length),
    options: wish.options.map(([name, value]) => ({ name: wordsOf(name)[0] ?? 'option', ...closest(product, name, value) })),
  };
}

const contains = (text: string, word: string): boolean => text.includes(word.replace(/(?:'s|s)$/, ''));

function tenths(words: readonly string[], text: string): number {
  if (words.length === 0) return 9;
  return Math.round((9 * words.filter((word) => contains(text, word)).length) / words.length);
}

/** The value itself where it is offered, else those of the option's group (or of all groups) that share most of its words. */
function closest(product: Product, name: string, value: string): { exact: boolean; values: readonly string[] } {
  const groups = product.options.filter((group) => group.name === name);
  const values = (groups.length > 0 ? groups : product.options).flatMap((group) => group.values);
  if (product.options.some((group) => group.values.includes(value))) return { exact: true, values: [value] };
  const wanted = new Set(pieces(value));
  const shared = (one: string): number => {
    const own = new Set(pieces(one));
    return [...own].filter((piece) => wanted.has(piece)).length / Math.max(1, new Set([...own, ...wanted]).size);
  };
  const ranked = [...new Set(values)]
    .filter((one) => one !== '' && one !== 'search' && shared(one) > 0)
    .sort((a, b) => shared(b) - shared(a));
  return { exact: false, values: ranked.slice(0, NEAR_VALUES) };
}

const pieces = (text: string): string[] => text.toLowerCase().match(/\p{L}+|\d+/gu) ?? [];

const titleWords = (product: Product): string[] => pieces(product.title).slice(0, TITLE_WORDS);

export function viewOf(shop: WebShop, state: WebShopState): View {
  const wish = readWish(state.instruction);
  const spelled = shop.settings.view === 'words';
  const sayings = new Map<string, string>();
  const searches = (): void => {
    for (const kind of SEARCHES) sayings.set(`search ${kind}`, `search[${searchText(kind, wish)}]`);
  };
  const left = `left ${shop.maxSteps - state.steps}`;
  switch (state.page) {
    case 'search':
      searches();
      return { text: wishText(wish, spelled), sayings };
    case 'results': {
      const opened = openedProducts(shop, state);
      const lines = shop.results(state).map((product, place) => {
        const label = String(FIRST_RESULT + place);
        sayings.set(`open ${label}`, `click[${product.asin.toLowerCase()}]`);
        if ((product.prices[0] ?? 0) > wish.limit) return `over ${label}`;
        const seen = opened.get(product.asin);
        const { kind, title, lacks, options } = compare(product, wish, seen?.read);
        if (seen) return `seen ${options.filter(({ exact }) => exact).length} lacks ${lacks} ${label}`;
        return [...(spelled ? titleWords(product) : []), kind, title, label].join(' ');
      });
      sayings.set('next', `click[${NEXT}]`);
      if (state.resultsPage > 1) sayings.set('previous', `click[${PREVIOUS}]`);
      searches();
      return { text: [`results ${state.resultsPage} ${left}`, ...lines].join(' '), sayings };
    }
    case 'item': {
      const product = shop.productOf(state);
      const read = openedProducts(shop, state).get(product.asin)?.read ?? new Set<string>();
      const { kind, title, lacks, options } = compare(product, wish, read);
      const chosen = new Set(state.options.map(([, value]) => value));
      let label = FIRST_OPTION;
      const lines = options.map(({ name, exact, values }) => {
        if (values.some((value) => chosen.has(value))) return `${name} done`;
        const offered = values.slice(0, FIRST_OPTION + OPTIONS_SHOWN - label).map((value) => {
          sayings.set(`choose ${label}`, `click[${value}]`);
          return `${exact ? 'yes' : 'near'} ${label++}`;
        });
        return `${name} ${offered.join(' ') || 'none'}`;
      });
      for (const page of ['features', 'description'] as const) if (!read.has(page)) sayings.set(page, `click[${page}]`);
      sayings.set('back', `click[${PREVIOUS}]`);
      sayings.set('buy', `click[${BUY}]`);
      const words = spelled ? [...titleWords(product), kind, title] : [kind, title];
      const price = (product.prices[0] ?? 0) > wish.limit ? 'over ' : '';
      return { text: `item ${words.join(' ')} ${price}lacks ${lacks} ${left} ${lines.join(' ')}`.trim(), sayings };
    }
    default: {
      const read = openedProducts(shop, state).get(state.asin)?.read;
      sayings.set('back', `click[${PREVIOUS}]`);
      return { text: `${state.page} lacks ${compare(shop.productOf(state), wish, read).lacks} ${left}`, sayings };
    }
  }
}

function wishText(wish: Wish, spelled: boolean): string {
  const names = wish.options.map(([name]) => wordsOf(name)[0] ?? 'option');
  const words = spelled
    ? `${pieces(wordsOf(wish.base).join(' '))
        .filter((word) => word !== 's')
        .join(' ')} `
    : '';
  const limit = wish.limit < NO_LIMIT ? ' limit' : '';
  return `wish ${words}attributes ${Math.min(9, attributesOf(wish.base).length)} options ${wish.options.length} ${names.join(' ')}${limit}`.trim();
}

/** Every word that the view can show or that may be said in it. */
export function* viewCorpus(shop: WebShop): Generator<string> {
  const numbers = Array.from({ length: 100 }, (_, n) => String(n)).join(' ');
  const labels = Array.from({ length: 20 }, (_, n) => `${FIRST_RESULT + n} ${FIRST_OPTION + n}`).join(' ');
  yield `wish attributes options limit results left over seen lacks item yes near none done features description back buy next previous open choose search ${SEARCHES.join(' ')} ${numbers} ${labels}`;
  for (const split of splits) {
    for (const { instruction } of shop.tasks(split)) yield wishText(readWish(instruction), false);
  }
  if (shop.settings.view !== 'words') return;
  for (const { instruction } of shop.tasks('train')) yield wishText(readWish(instruction), true);
  for (let document = 0; document < Math.min(shop.catalog.size, MOST_IN_CORPUS); document++)
    yield titleWords(shop.catalog.product(document)).join(' ');
}

const MOST_IN_CORPUS = 20_000;
