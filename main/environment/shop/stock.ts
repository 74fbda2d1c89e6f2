// What a shop is made of before anyone enters it: catalog, search indexes, tasks in their fixed order, and what may be said
// at each level. Everything here follows from the settings alone.

import { Random } from '../../base/random.ts';
import { type Split, splits } from '../../base/vocabulary.ts';
import type { Grammar } from '../environment.ts';
import { LEVELS, loadCatalog, type Catalog } from './catalog.ts';
import { aFifthImpossible, arrange } from './arrangement.ts';
import { atLevel, basketTasks, longTasks } from './baskets.ts';
import { type Details, detailsOf } from './details.ts';
import { restockedTasks } from './restocked.ts';
import { indexCatalog, type SearchIndex } from './search.ts';
import { COVERING_TERMS, EIGHTEEN_TERMS, type ShopSettings } from './settings.ts';
import { makeTasks, type ShopTask } from './tasks.ts';
import { wordsOf } from './words.ts';

/** Enough for the longest name; more would only be noise. */
export const MOST_WORDS = 8;

export interface Stock {
  readonly settings: ShopSettings;
  readonly catalog: Catalog;
  readonly tasks: readonly ShopTask[];
  readonly ordered: ReadonlyMap<Split, readonly ShopTask[]>;
  readonly levels: number;
  readonly indexes: readonly SearchIndex[];
  /** One for each level. */
  readonly grammars: readonly Grammar[];
  /** The only words that may be searched for; undefined where all may. */
  readonly terms: readonly string[] | undefined;
  /** Words worth searching for. */
  readonly useful: readonly string[];
  /** What only item pages say, where there are long tasks. */
  readonly details: ReadonlyMap<number, Details> | undefined;
  /** … of a product while a task is done. */
  pageOf(id: number, task: ShopTask): Details | undefined;
  reachable(id: number): boolean;
  /** As it is at the state's level; the whole task where there is none. */
  taskOf(state: { readonly task: string; readonly level?: number }): ShopTask;
  indexAt(level: number): SearchIndex;
}

export function stockOf(settings: ShopSettings): Stock {
  const catalog = arrange(settings.catalog === '' ? loadCatalog() : loadCatalog(settings.catalog), settings);
  const details = settings.tasks === 'short' ? undefined : detailsOf(catalog);
  const every = everyTask(catalog, details, settings);
  // Baskets have a level for each number of things, on the same shelves; else a level is a number of products.
  const baskets = settings.tasks === 'baskets';
  const levels = baskets ? settings.basket : LEVELS;
  const whole = indexCatalog(catalog, LEVELS - 1);
  const indexes = Array.from({ length: levels }, (_, level) => (baskets ? whole : indexCatalog(catalog, level)));
  const tasks = settings.ids === 'spread' ? aFifthImpossible(every, settings.maxReachableId) : every;
  const taskById = indexes.map((_, level) => new Map(tasks.map((task) => [task.id, baskets ? atLevel(task, level) : task])));
  const ordered = new Map<Split, readonly ShopTask[]>();
  for (const split of splits) {
    ordered.set(split, Random.from('shop-order', split).shuffle(tasks.filter((task) => task.split === split)));
  }
  const terms = { all: undefined, eighteen: EIGHTEEN_TERMS, covering: COVERING_TERMS }[settings.searchTerms];
  const useful =
    terms ?? [...new Set([...catalog.products.flatMap((product) => wordsOf(product.name)), ...Object.keys(catalog.sayings)])].sort();
  const reachable = (id: number): boolean => settings.maxReachableId === 0 || id <= settings.maxReachableId;
  const grammars = indexes.map(({ products }) => {
    const ids = products.filter((product) => reachable(product.id)).map((product) => String(product.id));
    return grammarOf(ids, useful, terms);
  });
  return {
    settings,
    catalog,
    tasks,
    ordered,
    levels,
    indexes,
    grammars,
    terms,
    useful,
    details,
    pageOf(id, { countries }) {
      const page = details?.get(id);
      const country = countries?.get(id);
      return page && country ? { ...page, country } : page;
    },
    reachable,
    taskOf({ task: id, level = levels - 1 }) {
      const task = taskById[level]?.get(id);
      if (!task) throw new Error(`The shop has no task "${id}": the state was made with another catalog`);
      return task;
    },
    indexAt(level) {
      const index = indexes[level];
      if (!index) throw new RangeError(`The shop has levels 0 to ${levels - 1}, not ${level}`);
      return index;
    },
  };
}

function everyTask(
  catalog: Catalog,
  details: ReadonlyMap<number, Details> | undefined,
  { tasks, basket, restock }: ShopSettings,
): ShopTask[] {
  if (!details) return makeTasks(catalog);
  if (tasks === 'baskets') return restock ? restockedTasks(catalog, basket) : basketTasks(catalog, details, basket);
  return [...(tasks === 'long' ? [] : makeTasks(catalog)), ...longTasks(catalog, details)];
}

function grammarOf(ids: readonly string[], useful: readonly string[], terms: readonly string[] | undefined): Grammar {
  const one = (verb: string): Grammar =>
    ids.length === 0
      ? []
      : [
          [
            { kind: 'literal', text: `${verb} ` },
            { kind: 'choice', options: ids },
          ],
        ];
  return [
    [
      { kind: 'literal', text: 'search ' },
      { kind: 'words', max: MOST_WORDS, useful, ...(terms && { from: terms }) },
    ],
    ...one('click'),
    ...one('buy'),
  ];
}
