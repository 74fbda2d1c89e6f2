// What a purchase is worth: r_type · (attributes + options + price that fit) / (all of them), with every oddity of the
// original, because published figures contain them. The most prominent ones: the goal's options are compared as the text
// of a Python pair, colours are mapped differently on the two sides, and the title's nouns count with duplicates.

import { readFileSync } from 'node:fs';
import { token_set_ratio } from 'fuzzball';
import { resourceFile } from '../../base/paths.ts';
import type { Goal, GoalOption } from './goals.ts';
import { nounsOf } from './nouns.ts';
import type { Product } from './product.ts';
import { printString } from './python.ts';

interface Judgement {
  readonly reward: number;
  readonly type: number;
  readonly attributes: number;
  readonly options: number;
  readonly price: boolean;
}

const THRESHOLD = 85;

let colours: readonly string[] | undefined;

function colourNames(): readonly string[] {
  colours ??= readFileSync(resourceFile('webshop', 'colours.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return colours;
}

/** Judges the purchase of a product at a price with the chosen option values. */
export function judge(bought: Product, chosen: readonly string[], price: number, goal: Goal, limit: number, wanted: Product): Judgement {
  const attributes = goal.attributes.filter((attribute) => hasAttribute(bought, attribute)).length;
  const options = goal.options.filter((option) => hasOption(chosen, option)).length;
  const fits = price <= limit;
  const type = typeReward(bought, wanted);
  const reward = ((attributes + options + (fits ? 1 : 0)) / (goal.attributes.length + goal.options.length + 1)) * type;
  return { reward, type, attributes, options, price: fits };
}

/** 1 for the same kind of product; less for another kind, the less its title has in common with the wanted one. */
export function typeReward(bought: Product, wanted: Product): number {
  const sameQuery = bought.query === wanted.query;
  const theirs = new Set(wanted.productCategory.split('›').map((part) => part.trim()));
  const ours = new Set(bought.productCategory.split('›').map((part) => part.trim()));
  const sameCategory = [...ours].filter((part) => theirs.has(part)).length >= 2;
  const score = titleScore(bought.title, wanted.title);
  if (score === 0) return 0;
  if (score < 0.1) return 0.1;
  return sameQuery || sameCategory || score > 0.2 ? 1 : 0.5;
}

export function titleScore(bought: string, wanted: string): number {
  const theirs = nounsOf(wanted);
  if (theirs.length === 0) return 0.2;
  const ours = new Set(nounsOf(bought));
  return [...new Set(theirs)].filter((noun) => ours.has(noun)).length / theirs.length;
}

/** What a product says of itself, lower case: title, bullets, description. */
const texts = new WeakMap<Product, readonly string[]>();

function hasAttribute(product: Product, attribute: string): boolean {
  if (product.attributes.some((own) => similarity(own, attribute) > THRESHOLD)) return true;
  let own = texts.get(product);
  if (own === undefined) {
    own = [product.title, product.bullets.join(' '), product.description].map((text) => text.toLowerCase());
    texts.set(product, own);
  }
  return own.some((text) => text.includes(attribute));
}

function hasOption(chosen: readonly string[], option: GoalOption): boolean {
  const wanted = goalOptionText(option);
  return chosen.some((value) => similarity(basicColour(value), wanted) > THRESHOLD);
}

/** The first colour name, in the list's order, that the value contains: `rectangular` is `tan`. */
export function basicColour(value: string): string {
  return colourNames().find((colour) => value.includes(colour)) ?? value;
}

/** A colour name if the whole value (or the option's name) is one, else the pair as Python prints it; without a name just the value. */
export function goalOptionText([name, value]: GoalOption): string {
  if (name === '') return basicColour(value);
  return colourNames().find((colour) => colour === name || colour === value) ?? `(${printString(name)}, ${printString(value)})`;
}

const similarities = new Map<string, number>();
const MOST_SIMILARITIES = 100_000;

/** thefuzz's token_set_ratio of two texts, 0 … 100. */
export function similarity(a: string, b: string): number {
  const key = `${a}\n${b}`;
  let ratio = similarities.get(key);
  if (ratio === undefined) {
    const [left, right] = [plainWords(a), plainWords(b)];
    ratio = left === '' || right === '' ? 0 : token_set_ratio(left, right, { full_process: false });
    if (similarities.size >= MOST_SIMILARITIES) similarities.clear();
    similarities.set(key, ratio);
  }
  return ratio;
}

/** thefuzz deletes U+0080 – U+00FF, turns everything but letters, numbers and _ into spaces, and lowers the case. */
function plainWords(text: string): string {
  return text
    .replace(/[\x80-\xff]/g, '')
    .replace(/[^\p{L}\p{N}_]/gu, ' ')
    .toLowerCase()
    .trim();
}
