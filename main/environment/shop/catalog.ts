// The shop's products and synonyms as they stand in a file: the built-in one (resources/shop/catalog.json, made by
// resources/shop/make-catalog.mjs) or the user's file in the same form. A file that is wrong is refused as a whole,
// with the place of the first problems: nothing is skipped silently.

import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { resourceFile } from '../../base/paths.ts';
import { canonical, synonymsFrom, wordsOf, type Synonyms } from './words.ts';
import { splits } from '../../base/vocabulary.ts';

/** Beyond this the shop is not the right world (WebShop indexes on disk); it also keeps a wrong file from filling the memory. */
const MOST_PRODUCTS = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
const SHOWN_PROBLEMS = 5;

const line = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');

const productSchema = z.strictObject({
  id: z.int().min(1).max(999_999),
  name: line,
  /** The last words of the name: what the thing is. */
  noun: line,
  category: line,
  price: z.int().min(1).max(1_000_000),
  description: line,
  split: z.enum(splits),
  /** First curriculum level (0–3) at which the product is on the shelf. */
  level: z.int().min(0).max(3),
  /** Place in the fixed order of equally good results. */
  shelf: z.int().min(1),
});

const catalogSchema = z.strictObject({
  about: z.string().optional(),
  categories: z.array(line).min(1).max(100),
  synonyms: z.record(z.string().regex(/^\p{Ll}+$/u, 'a synonym is one word in lower case'), line),
  products: z.array(productSchema).min(1),
});

export type Product = z.infer<typeof productSchema>;

export interface Catalog {
  readonly products: readonly Product[];
  readonly categories: readonly string[];
  /** As people write them: `sneakers` → `running shoes`. */
  readonly sayings: Readonly<Record<string, string>>;
  readonly synonyms: Synonyms;
}

export const LEVELS = 4;

export function loadCatalog(file: string = resourceFile('shop', 'catalog.json')): Catalog {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) throw new Error(`The catalog ${file} does not exist: give the path of a file like resources/shop/catalog.json`);
  if (bytes > MOST_BYTES) {
    throw new Error(
      `The catalog ${file} has ${bytes} bytes; a shop takes at most ${MOST_BYTES} (about ${MOST_PRODUCTS} products). Take the WebShop world for larger ones`,
    );
  }
  return parseCatalog(readFileSync(file, 'utf8'), file);
}

export function parseCatalog(text: string, file: string): Catalog {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The catalog ${file} is not valid JSON (cut off or edited?): ${why}`, { cause: error });
  }
  const count = rowCount(json);
  if (count > MOST_PRODUCTS) throw new Error(`The catalog ${file} has ${count} products; a shop takes at most ${MOST_PRODUCTS}`);
  const parsed = catalogSchema.safeParse(json);
  const problems = parsed.success
    ? inconsistencies(parsed.data)
    : parsed.error.issues.map((issue) => `${place(issue.path)}: ${issue.message}`);
  if (!parsed.success || problems.length > 0) {
    const more = problems.length > SHOWN_PROBLEMS ? `\n  and ${problems.length - SHOWN_PROBLEMS} more` : '';
    throw new Error(`The catalog ${file} cannot be used:\n  ${problems.slice(0, SHOWN_PROBLEMS).join('\n  ')}${more}`);
  }
  const { products, categories, synonyms } = parsed.data;
  return { products: [...products].sort((a, b) => a.id - b.id), categories, sayings: synonyms, synonyms: synonymsFrom(synonyms) };
}

function rowCount(json: unknown): number {
  const rows = typeof json === 'object' && json !== null && 'products' in json ? json.products : undefined;
  return Array.isArray(rows) ? rows.length : 0;
}

/** `products[12].price (the 13th product)`: where in the file, in words. */
function place(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text === '' ? 'the whole file' : text.replace(/^\./, '');
}

/** What the types cannot say: every problem with its place. */
function inconsistencies(data: z.infer<typeof catalogSchema>): string[] {
  const problems: string[] = [];
  const ids = new Map<number, number>();
  const shelves = new Map<number, number>();
  const splits = new Map<string, string>();
  const synonyms = synonymsFrom(data.synonyms);
  const words = new Set<string>();
  data.products.forEach((product, index) => {
    const at = `products[${index}]`;
    const twin = ids.get(product.id);
    if (twin !== undefined) problems.push(`${at}.id: ${product.id} is already the id of products[${twin}]; ids must differ`);
    ids.set(product.id, index);
    const neighbour = shelves.get(product.shelf);
    if (neighbour !== undefined)
      problems.push(`${at}.shelf: ${product.shelf} is already the place of products[${neighbour}]; places must differ`);
    shelves.set(product.shelf, index);
    if (!data.categories.includes(product.category))
      problems.push(`${at}.category: "${product.category}" is not one of ${data.categories.join(', ')}`);
    if (wordsOf(product.noun).length === 0) problems.push(`${at}.noun: "${product.noun}" contains no word`);
    if (!` ${product.name.toLowerCase()}`.endsWith(` ${product.noun.toLowerCase()}`))
      problems.push(`${at}.name: "${product.name}" must end in its noun "${product.noun}"`);
    const name = canonical(product.name, new Map()).sort().join(' ');
    const split = splits.get(name);
    if (split !== undefined && split !== product.split)
      problems.push(`${at}.split: products named "${product.name}" are in ${split} and in ${product.split}; one name belongs to one split`);
    splits.set(name, product.split);
    for (const word of canonical(product.name, new Map())) words.add(word);
  });
  for (const [say, means] of synonyms) {
    if (words.has(say)) problems.push(`synonyms.${say}: it is itself a word in product names, so it cannot stand for another one`);
    for (const word of means) if (!words.has(word)) problems.push(`synonyms.${say}: "${word}" occurs in no product name`);
  }
  return problems;
}
