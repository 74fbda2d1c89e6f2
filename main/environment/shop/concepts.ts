// Which words of the shop could trade places without changing what a task asks for: descriptions ("red", with its synonym
// "crimson") among themselves, and things ("lamp", with "light") among themselves, where they have equally many synonyms.
// Held-out products stand on training pages as the wrong choice every time; a policy that knows products by heart learns that
// they are never right. One that reads under changing words can only learn to compare.

import type { Catalog } from './catalog.ts';
import { type Constraint, LIMITS } from './tasks.ts';
import { wordsOf } from './words.ts';

/** Groups of concepts; a concept is a word of product names and its synonyms. Words with a second meaning, and things of two words, stay. */
export function conceptGroups({ products, categories, sayings }: Catalog): string[][][] {
  const descriptions = new Set<string>();
  const things = new Set<string>();
  const fixed = new Set(categories.flatMap(wordsOf));
  for (const { name, noun } of products) {
    const words = wordsOf(name);
    const nouns = wordsOf(noun);
    for (const word of words.slice(0, -nouns.length)) descriptions.add(word);
    if (nouns.length === 1) things.add(nouns.join());
    else for (const word of nouns) fixed.add(word);
  }
  const synonyms = (word: string): string[] => Object.keys(sayings).filter((saying) => sayings[saying]?.toLowerCase() === word);
  const groups = new Map<string, string[][]>();
  for (const [kind, words] of [descriptions, things].entries()) {
    for (const word of words) {
      if (fixed.has(word) || (descriptions.has(word) && things.has(word))) continue;
      const concept = [word, ...synonyms(word)];
      const key = `${kind} ${concept.length}`;
      groups.set(key, [...(groups.get(key) ?? []), concept]);
    }
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/**
 * What may trade places in a task without a change of what is right: prices on the same side of its limit, or all of them where it
 * names none, and sections. A page whose prices never change is known by them, and with it the product that is never right there.
 */
export function comparableGroups(catalog: Catalog, searchable: ReadonlySet<string>, constraint: Constraint | undefined): string[][] {
  const prices = exchangeablePrices(catalog);
  const limit = constraint === undefined || constraint.kind === 'category' ? 0 : constraint.limit;
  const [under = [], over = []] = [true, false].map((below) => prices.filter((price) => Number(price.slice(1)) < limit === below));
  // Sections that are searched for as things, too (`shoes`), stay: what may be said is the same in every episode.
  return [under, over, catalog.categories.filter((name) => !searchable.has(name))].filter((group) => group.length > 1);
}

/** Prices that stand on pages; not the ones that tasks name as limits. */
export function exchangeablePrices({ products }: Catalog): string[] {
  const limits: readonly number[] = LIMITS;
  return [...new Set(products.map(({ price }) => price))].filter((price) => !limits.includes(price)).map((price) => `$${price}`);
}
