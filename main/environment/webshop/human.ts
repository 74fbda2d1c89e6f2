// Goals written by people (`items_human_ins.json`), the ones that figures on the full set are published for. Numbered
// and split like the made-up ones; wished options are values without a name and are compared like what was bought.

import { existsSync } from 'node:fs';
import { type Goal, type GoalList, type GoalOption, plain, priceLimit, SHUFFLE_SEED } from './goals.ts';
import { isObject, texts, wrong } from './product.ts';
import { shuffledOrder } from './python.ts';
import { DataError, placeOf, readRecords } from './search/records.ts';
import type { Catalog } from './search/source.ts';

interface Wished {
  readonly document: number;
  readonly wish: string;
  readonly attributes: readonly string[];
  readonly options: readonly GoalOption[];
}

export class HumanGoals implements GoalList {
  readonly size: number;
  readonly #catalog: Catalog;
  readonly #seed: number;
  readonly #order: Int32Array;
  readonly #wished: readonly Wished[];

  constructor(catalog: Catalog, seed: number, path: string) {
    this.#catalog = catalog;
    this.#seed = seed;
    this.#wished = readWished(catalog, path);
    this.size = this.#wished.length;
    this.#order = shuffledOrder(this.size, SHUFFLE_SEED);
  }

  #at(number: number): Wished {
    const found = this.#wished[this.#order[number] ?? -1];
    if (found === undefined) throw new RangeError(`There is no goal ${number}: this catalog gives ${this.size}`);
    return found;
  }

  goal(number: number): Goal {
    const wished = this.#at(number);
    return { ...wished, number, limit: priceLimit(this.#catalog.product(wished.document), this.#seed) };
  }

  documentOf(number: number): number {
    return this.#at(number).document;
  }

  find(wish: string): number[] {
    const wanted = plain(wish);
    return Array.from({ length: this.size }, (_, number) => number).filter((number) => plain(this.#at(number).wish) === wanted);
  }
}

/** In the order of the products, as the original goes through them. Wishes without attributes are left out there too. */
function readWished(catalog: Catalog, path: string): Wished[] {
  if (!existsSync(path)) {
    throw new DataError(`There is no ${path}`, 'Fetch the file, or set goals to synthetic.');
  }
  const wished: Wished[] = [];
  let without = 0;
  for (const record of readRecords(path, 'object')) {
    const document = catalog.find(record.key);
    if (document === undefined) continue;
    const place = `${placeOf(path, record)}, product ${record.key}`;
    if (!Array.isArray(record.value)) throw wrong(place, record.key, 'a list of instructions', record.value);
    for (const [i, entry] of record.value.entries()) {
      const one = readEntry(entry, document, `${place}[${i}]`);
      if (one.attributes.length > 0) wished.push(one);
      else without++;
    }
  }
  if (without > 0) process.stderr.write(`${path}: ${without} instructions without attributes are left out, as in the original\n`);
  if (wished.length === 0)
    throw new DataError(`${path} holds no instruction for a product of this catalog`, 'Take the file that belongs to the set.');
  return wished.sort((a, b) => a.document - b.document);
}

function readEntry(entry: unknown, document: number, place: string): Wished {
  if (!isObject(entry)) throw wrong(place, 'entry', 'an object', entry);
  const { instruction } = entry;
  if (typeof instruction !== 'string') throw wrong(place, 'instruction', 'a text', instruction);
  const attributes = texts(entry.instruction_attributes, 'instruction_attributes', place);
  const given = entry.instruction_options;
  const options = isObject(given)
    ? Object.entries(given).map(([name, value]): GoalOption => [name, String(value)])
    : texts(given, 'instruction_options', place).map((value): GoalOption => ['', value]);
  return { document, wish: instruction.replace(/^\.+|\.+$/g, ''), attributes, options };
}
