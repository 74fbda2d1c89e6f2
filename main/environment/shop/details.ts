// What only item pages say: where a product is made and how long its warranty is. Long tasks ask for it, so pages have to be opened and
// remembered. Within one kind of thing no two products share a country or a warranty, as far as the countries go.

import { Random } from '../../base/random.ts';
import type { Catalog } from './catalog.ts';

export const COUNTRIES = ['norway', 'peru', 'japan', 'kenya', 'france', 'canada', 'turkey', 'india', 'chile', 'poland', 'egypt', 'spain'];
/** In words, because a number on a page is the name of a product. */
const YEARS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

export interface Details {
  readonly country: string;
  /** Warranty; longer is a higher number. */
  readonly years: number;
}

/** By product id. */
export function detailsOf({ products }: Pick<Catalog, 'products'>): ReadonlyMap<number, Details> {
  const details = new Map<number, Details>();
  for (const [noun, kind] of Map.groupBy(products, (product) => product.noun)) {
    const countries = Random.from('shop-countries', noun).shuffle(COUNTRIES);
    const years = Random.from('shop-years', noun).shuffle(kind.map((_, index) => index + 1));
    kind.forEach(({ id }, index) => details.set(id, { country: countries[index % countries.length] ?? '', years: years[index] ?? 1 }));
  }
  return details;
}

export const detailsText = ({ country, years }: Details): string =>
  `Made in ${country}. Warranty ${YEARS[years - 1] ?? `over ${YEARS.at(-1)}`} years.`;
