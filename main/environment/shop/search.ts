// The shop's search engine: counts how many of the query's words a product's name has (after plural and synonyms), best
// first; equally good ones stand in the order of the shelf, which knows nothing of the task. Categories, prices and
// descriptions are not searched: those have to be read.

import type { Catalog, Product } from './catalog.ts';
import { canonical } from './words.ts';

export interface SearchIndex {
  readonly products: readonly Product[];
  readonly byId: ReadonlyMap<number, Product>;
  readonly categories: number;
  search(text: string): readonly Product[];
}

/** An index over the products that are on the shelf at a level. */
export function indexCatalog(catalog: Catalog, level: number): SearchIndex {
  const shelf = catalog.products.filter((product) => product.level <= level).sort((a, b) => a.shelf - b.shelf);
  const postings = new Map<string, number[]>();
  shelf.forEach((product, place) => {
    for (const word of canonical(product.name, catalog.synonyms)) {
      const list = postings.get(word);
      if (list) list.push(place);
      else postings.set(word, [place]);
    }
  });
  const overlap = new Uint8Array(shelf.length);

  function search(text: string): readonly Product[] {
    const found: number[] = [];
    for (const word of canonical(text, catalog.synonyms)) {
      for (const place of postings.get(word) ?? []) {
        if (overlap[place] === 0) found.push(place);
        overlap[place] = (overlap[place] ?? 0) + 1;
      }
    }
    found.sort((a, b) => (overlap[b] ?? 0) - (overlap[a] ?? 0) || a - b);
    const results: Product[] = [];
    for (const place of found) {
      const product = shelf[place];
      if (product) results.push(product);
      overlap[place] = 0;
    }
    return results;
  }

  return {
    products: [...shelf].sort((a, b) => a.id - b.id),
    byId: new Map(shelf.map((product) => [product.id, product])),
    categories: new Set(shelf.map((product) => product.category)).size,
    search,
  };
}
