// One product in the original schema, as the world uses it: the shop's record joined with its attributes and
// instruction. Reading is strict where the original would crash, with the record's place in every complaint, and as
// lenient as the original everywhere else.

import { printFloat, strip } from './python.ts';
import { DataError } from './search/records.ts';

interface OptionGroup {
  readonly name: string;
  readonly values: readonly string[];
}

export interface Product {
  readonly asin: string;
  readonly title: string;
  readonly description: string;
  readonly bullets: readonly string[];
  readonly category: string;
  /** The search under which the shop listed it; two products of the same query are of the same kind. */
  readonly query: string;
  /** `Beauty › Skin Care › Face`. */
  readonly productCategory: string;
  /** One price, or the ends of a range. */
  readonly prices: readonly number[];
  readonly priceTag: string;
  readonly options: readonly OptionGroup[];
  readonly attributes: readonly string[];
  /** What a customer who wants this product says, or null when nobody asks for it. */
  readonly instruction: string | null;
  readonly wanted: readonly string[];
}

export interface InstructionRecord {
  readonly attributes: readonly string[];
  readonly instruction: string | null;
  readonly wanted: readonly string[];
}

const WITHOUT_ENTRY: readonly string[] = ['DUMMY_ATTR'];
const HINT = 'The original schema is described in main/environment/webshop/README.md; repair the record or fetch the file again.';

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  return Array.isArray(value)
    ? 'a list'
    : typeof value === 'object'
      ? 'an object'
      : `${typeof value} ${JSON.stringify(value).slice(0, 40)}`;
}

export function wrong(place: string, field: string, expected: string, found: unknown): DataError {
  return new DataError(`${place}: '${field}' should be ${expected}, found ${nameOf(found)}`, HINT);
}

function text(record: Readonly<Record<string, unknown>>, field: string, place: string): string {
  const value = record[field];
  if (typeof value !== 'string') throw wrong(place, field, 'a text', value);
  return value;
}

export function texts(value: unknown, field: string, place: string): readonly string[] {
  if (!Array.isArray(value)) throw wrong(place, field, 'a list of texts', value);
  return value.map((item: unknown, i) => {
    if (typeof item !== 'string') throw wrong(place, `${field}[${i}]`, 'a text', item);
    return item;
  });
}

/** The product number of a record, or a reason why the original leaves the record out. */
export function readAsin(value: unknown, place: string): { readonly asin: string; readonly skip: string } {
  if (!isObject(value)) throw new DataError(`${place}: expected a product (an object), found ${nameOf(value)}`, HINT);
  const asin = text(value, 'asin', place);
  if (asin === '') throw new DataError(`${place}: 'asin' is empty`, HINT);
  const skip = asin === 'nan' || [...asin].length > 10 ? `its number '${asin.slice(0, 40)}' is not one of a product` : '';
  return { asin, skip };
}

export function readProduct(value: unknown, extra: InstructionRecord, place: string): Product {
  if (!isObject(value)) throw new DataError(`${place}: expected a product (an object), found ${nameOf(value)}`, HINT);
  const bullets = value.small_description;
  const prices = readPrices(value.pricing, place);
  const product = {
    asin: text(value, 'asin', place),
    title: text(value, 'name', place),
    description: text(value, 'full_description', place),
    bullets: typeof bullets === 'string' ? [bullets] : texts(bullets, 'small_description', place),
    category: text(value, 'category', place),
    query: strip(text(value, 'query', place).toLowerCase()),
    productCategory: text(value, 'product_category', place),
    prices: prices.slice(0, 2),
    priceTag: prices
      .map((price) => `$${printFloat(price)}`)
      .slice(0, 2)
      .join(' to '),
    options: readOptions(value.customization_options, place),
  };
  if (product.bullets.length === 0) throw wrong(place, 'small_description', 'a text or a list with at least one text', bullets);
  return { ...product, attributes: extra.attributes, instruction: extra.instruction, wanted: extra.wanted };
}

function readPrices(value: unknown, place: string): number[] {
  if (value === undefined || value === null || value === '') return [100];
  if (typeof value !== 'string') throw wrong(place, 'pricing', "a text such as '$12.99' or '$9.99 - $12.99'", value);
  if (/^\s*-|\$\s*-/.test(value)) throw new DataError(`${place}: 'pricing' is negative: '${value.slice(0, 40)}'`, HINT);
  const prices = value
    .split('$')
    .slice(1)
    .map((piece) => {
      const digits = piece.replace(/[^\d.]/g, '');
      if (!/^(?:\d+\.?\d*|\.\d+)$/.test(digits)) throw wrong(place, 'pricing', "a text such as '$12.99' or '$9.99 - $12.99'", value);
      return Number(digits);
    });
  if (prices.length === 0 || prices.some((price) => !Number.isFinite(price))) {
    throw wrong(place, 'pricing', "a text such as '$12.99' or '$9.99 - $12.99'", value);
  }
  return prices;
}

function readOptions(value: unknown, place: string): OptionGroup[] {
  if (value === '' || value === null) return [];
  if (!isObject(value)) throw wrong(place, 'customization_options', "an object of lists, or ''", value);
  const groups = new Map<string, readonly string[]>();
  for (const [name, contents] of Object.entries(value)) {
    if (contents === null) continue;
    const field = `customization_options.${name}`;
    if (!Array.isArray(contents)) throw wrong(place, field, 'a list or null', contents);
    const values = contents.map((content: unknown, i) => {
      if (!isObject(content)) throw wrong(place, `${field}[${i}]`, 'an object with a value', content);
      return strip(text(content, 'value', `${place}, ${field}[${i}]`))
        .replaceAll('/', ' | ')
        .toLowerCase();
    });
    groups.set(name.toLowerCase(), values);
  }
  return [...groups].map(([name, values]) => ({ name, values }));
}

export function readInstruction(value: unknown, place: string): InstructionRecord {
  if (!isObject(value)) throw new DataError(`${place}: expected an object, found ${nameOf(value)}`, HINT);
  const instruction = value.instruction ?? null;
  if (instruction !== null && typeof instruction !== 'string') throw wrong(place, 'instruction', 'a text', instruction);
  const wanted = instruction === null ? [] : texts(value.instruction_attributes, 'instruction_attributes', place);
  if (instruction !== null && wanted.length === 0) {
    throw wrong(place, 'instruction_attributes', 'a list with at least one attribute', value.instruction_attributes);
  }
  const attributes = value.attributes === undefined ? WITHOUT_ENTRY : texts(value.attributes, 'attributes', place);
  return { attributes, instruction, wanted };
}

/** The text under which a product is found: everything but the bullets after the first. */
export function contents(product: Product): string {
  const options = product.options.map(({ name, values }) => `${name}: ${values.join(', ')}`).join(', and ');
  return [product.title, product.description, product.bullets[0] ?? '', options].join(' ').toLowerCase();
}

/** How many goals the product gives: one for each combination of option values, none without an instruction. */
export function goalCount(product: Product): number {
  if (product.instruction === null) return 0;
  return product.options.reduce((count, group) => count * group.values.length, 1);
}
