// All products of one shop and the search over them. A small set is held in memory; a large one is read from disk
// through an index that is built once (index-build.ts). Both have the same interface.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resourceFile } from '../../../base/paths.ts';
import { analyze } from './analyzer.ts';
import { type Postings, Ranking, encodeLength } from './bm25.ts';
import { buildIndex } from './index-build.ts';
import { indexFolder, isIndexOf, openIndex } from './index-file.ts';
import { type InstructionRecord, type Product, contents, goalCount, readAsin, readInstruction, readProduct } from '../product.ts';
import { DataError, placeOf, readRecords } from './records.ts';
import { type Catalog, type Progress, type SourceFiles, withoutInstruction } from './source.ts';

/** How many products a search finds at most. */
const MOST_HITS = 50;

/** Files above this size are indexed on disk instead of being held in memory. */
const LARGEST_IN_MEMORY = 64 * 2 ** 20;

const SETS: Readonly<Record<'small' | 'full', SourceFiles>> = {
  small: { products: 'items_shuffle_1000.json', instructions: 'items_ins_v2_1000.json' },
  full: { products: 'items_shuffle.json', instructions: 'items_ins_v2.json' },
};

/** The files of a WebShop data folder; without a folder, the catalog that comes with the lab. */
export function locate(folder: string, set: 'auto' | 'small' | 'full'): SourceFiles {
  if (folder === '')
    return { products: resourceFile('webshop', 'products.json'), instructions: resourceFile('webshop', 'instructions.json') };
  const wanted = set === 'auto' ? (['small', 'full'] as const) : [set];
  for (const name of wanted) {
    const files = { products: join(folder, SETS[name].products), instructions: join(folder, SETS[name].instructions) };
    if (existsSync(files.products) && existsSync(files.instructions)) return files;
  }
  const names = wanted.map((name) => `${SETS[name].products} and ${SETS[name].instructions}`).join(', or ');
  throw new DataError(
    `${folder} holds no WebShop data: expected ${names}`,
    'Choose the `data` folder of the original WebShop, or leave the setting empty for the catalog that comes with the lab.',
  );
}

const open = new Map<string, Catalog>();

/** Opens a catalog, or answers with the one that is open already. */
export function openCatalog(files: SourceFiles, progress: Progress = () => {}, inMemory = LARGEST_IN_MEMORY): Catalog {
  const state = statSync(files.products);
  const key = `${files.products}|${files.instructions}|${state.size}|${state.mtimeMs}|${statSync(files.instructions).mtimeMs}|${inMemory}`;
  let catalog = open.get(key);
  if (catalog === undefined) {
    const folder = indexFolder(files);
    if (state.size <= inMemory && !isIndexOf(folder, files)) catalog = loadCatalog(files);
    else {
      if (!isIndexOf(folder, files)) buildIndex(files, folder, progress);
      catalog = openIndex(folder, files, MOST_HITS);
    }
    for (const note of catalog.notes) process.stderr.write(`${note}\n`);
    open.set(key, catalog);
  }
  return catalog;
}

function loadCatalog(files: SourceFiles): Catalog {
  const instructions = new Map<string, InstructionRecord>();
  for (const record of readRecords(files.instructions, 'object')) {
    instructions.set(
      record.key,
      readInstruction(record.value, `${placeOf(files.instructions, record)}, product ${record.key.slice(0, 20)}`),
    );
  }
  const numbers = new Map<string, number>();
  const products: Product[] = [];
  const notes: string[] = [];
  for (const record of readRecords(files.products, 'array')) {
    const place = placeOf(files.products, record);
    const { asin, skip } = readAsin(record.value, place);
    const reason = skip || (numbers.has(asin) ? `${asin} was there before; the first one counts` : '');
    if (reason !== '') {
      notes.push(`${place} is left out, as in the original: ${reason}`);
      continue;
    }
    const instruction = instructions.get(asin);
    if (instruction === undefined) throw withoutInstruction(place, asin, files);
    numbers.set(asin, products.length);
    products.push(readProduct(record.value, instruction, place));
  }
  if (products.length === 0) throw new DataError(`${files.products} holds no products`, 'Fetch the file again.');
  const ranking = rankingOf(products);
  return {
    size: products.length,
    product(document) {
      const product = products[document];
      if (product === undefined) throw new RangeError(`There is no product ${document}: the catalog has ${products.length}`);
      return product;
    },
    find: (asin) => numbers.get(asin),
    search: (query) => ranking.search(query, MOST_HITS),
    goalCounts: products.map(goalCount),
    notes,
  };
}

function rankingOf(products: readonly Product[]): Ranking {
  const lists = new Map<string, { documents: number[]; counts: number[] }>();
  const norms = new Uint8Array(products.length);
  let total = 0;
  for (const [document, product] of products.entries()) {
    const terms = analyze(contents(product));
    norms[document] = encodeLength(terms.length);
    total += terms.length;
    for (const term of terms) {
      let list = lists.get(term);
      if (list === undefined) lists.set(term, (list = { documents: [], counts: [] }));
      const last = list.documents.length - 1;
      if (list.documents[last] === document) list.counts[last] = (list.counts[last] ?? 0) + 1;
      else {
        list.documents.push(document);
        list.counts.push(1);
      }
    }
  }
  const postings = new Map<string, Postings>();
  for (const [term, list] of lists) {
    postings.set(term, { documents: Int32Array.from(list.documents), counts: Int32Array.from(list.counts) });
  }
  return new Ranking({
    size: products.length,
    averageLength: total / products.length,
    norms,
    tieRanks: tieRanks(products.map((product) => product.asin)),
    postings: (term) => postings.get(term),
  });
}

/** The place of each product in the alphabet of product numbers. */
function tieRanks(asins: readonly string[]): Int32Array {
  const order = Int32Array.from(asins.keys());
  order.sort((a, b) => ((asins[a] ?? '') < (asins[b] ?? '') ? -1 : 1));
  const ranks = new Int32Array(asins.length);
  for (const [rank, document] of order.entries()) ranks[document] = rank;
  return ranks;
}
