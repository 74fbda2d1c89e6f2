// What the parts of the catalog share: where a set comes from, what can be asked of it, and how loading reports.

import type { Product } from '../product.ts';
import { DataError } from './records.ts';

export interface Catalog {
  readonly size: number;
  /** Products are numbered in the order of their file. */
  product(document: number): Product;
  find(asin: string): number | undefined;
  /** The best 50 products, best first. */
  search(query: string): Int32Array;
  /** Goals that each product gives. */
  readonly goalCounts: ArrayLike<number>;
  /** Records that were left out, and why. */
  readonly notes: readonly string[];
}

/** The two files of a set. */
export interface SourceFiles {
  readonly products: string;
  readonly instructions: string;
}

export type Progress = (share: number, what: string) => void;

export function withoutInstruction(place: string, asin: string, files: SourceFiles): DataError {
  return new DataError(
    `${place}: product ${asin} has no entry in ${files.instructions}`,
    'The two files belong together: take both from the same set.',
  );
}
