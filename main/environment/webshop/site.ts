// The shop as a place: its catalog and goals, what each page shows and offers, and where the wanted product stands. Results
// and grammars are kept, because episodes ask for the same ones again and again; nothing here changes a state.

import { dirname, join } from 'node:path';
import type { Grammar, Plain } from '../environment.ts';
import { locate, openCatalog } from './search/catalog.ts';
import { type GoalList, Goals } from './goals.ts';
import { HumanGoals } from './human.ts';
import { searchWords } from './instruction.ts';
import { PAGE_LENGTH, type PageName, SUB_PAGE_CLICKABLES } from './pages.ts';
import { itemClickables, itemPage, resultsClickables, resultsPage, searchPage, subPage } from './pages.ts';
import type { Product } from './product.ts';
import type { WebShopSettings } from './settings.ts';
import type { Catalog, Progress } from './search/source.ts';
import { Tasks } from './tasks.ts';

/** Everything that decides what comes next; pages and results follow from it. */
export interface WebShopState {
  readonly [key: string]: Plain;
  readonly goal: number;
  /** The wish as this episode's customer says it; its price limit counts. */
  readonly instruction: string;
  readonly page: PageName;
  readonly query: string;
  readonly resultsPage: number;
  readonly asin: string;
  /** Chosen options, in the order of their first choice. The original does not show them. */
  readonly options: readonly (readonly [name: string, value: string])[];
  /** Actions that changed something, oldest first: what a customer remembers. */
  readonly history: readonly string[];
  readonly steps: number;
  /** Whether the wanted product was ever on a result page. */
  readonly found: boolean;
}

const MOST_CACHED = 2000;
const MOST_CACHED_LENGTH = 1_000_000;

export class Site {
  readonly settings: WebShopSettings;
  readonly catalog: Catalog;
  readonly goals: GoalList;
  readonly tasks: Tasks;
  readonly #searches = new Map<string, Int32Array>();
  #cachedLength = 0;
  readonly #grammars = new Map<string, Grammar>();

  constructor(settings: WebShopSettings, progress?: Progress) {
    const files = locate(settings.dataFolder, settings.set);
    this.settings = settings;
    this.catalog = openCatalog(files, progress);
    this.goals =
      settings.goals === 'human'
        ? new HumanGoals(this.catalog, settings.seed, join(dirname(files.products), 'items_human_ins.json'))
        : new Goals(this.catalog, settings.seed);
    this.tasks = new Tasks(this.catalog, this.goals, settings);
  }

  hits(query: string): Int32Array {
    let found = this.#searches.get(query);
    if (found === undefined) {
      found = this.catalog.search(query);
      // A query may be a megabyte long: few of those are kept.
      this.#cachedLength += query.length;
      if (this.#cachedLength > MOST_CACHED_LENGTH) {
        this.#searches.clear();
        this.#cachedLength = query.length;
      }
      this.#searches.set(query, found);
    }
    return found;
  }

  results(state: WebShopState): readonly Product[] {
    const from = (state.resultsPage - 1) * PAGE_LENGTH;
    return Array.from(this.hits(state.query).subarray(from, from + PAGE_LENGTH), (document) => this.catalog.product(document));
  }

  productOf(state: WebShopState): Product {
    const document = this.catalog.find(state.asin);
    if (document === undefined) throw new Error(`The state is of another catalog: it has no product '${state.asin}'`);
    return this.catalog.product(document);
  }

  clickables(state: WebShopState): readonly string[] {
    switch (state.page) {
      case 'search':
      case 'done':
        return [];
      case 'results':
        return resultsClickables(state.resultsPage, this.results(state));
      case 'item':
        return itemClickables(this.productOf(state));
      default:
        return SUB_PAGE_CLICKABLES;
    }
  }

  observe(state: WebShopState): string {
    switch (state.page) {
      case 'search':
        return searchPage(state.instruction);
      case 'results':
        return resultsPage(state.instruction, state.resultsPage, this.hits(state.query).length, this.results(state));
      case 'item':
        return itemPage(state.instruction, this.productOf(state));
      case 'done':
        return 'The episode is over.';
      default:
        return subPage(state.instruction, this.productOf(state), state.page);
    }
  }

  target(state: WebShopState): Product {
    return this.catalog.product(this.goals.documentOf(state.goal));
  }

  /** The place of the wanted product among all results, from 0, or −1. */
  targetRank(state: WebShopState): number {
    return this.hits(state.query).indexOf(this.goals.documentOf(state.goal));
  }

  isOnPage(state: WebShopState): boolean {
    const rank = this.targetRank(state);
    return rank >= 0 && Math.floor(rank / PAGE_LENGTH) === state.resultsPage - 1;
  }

  grammar(state: WebShopState): Grammar {
    if (state.page === 'done') return [];
    const choices = this.clickables(state);
    const key = `${state.instruction}\n${choices.join('\n')}`;
    let known = this.#grammars.get(key);
    if (known === undefined) {
      const words = { kind: 'words', max: this.settings.queryWords, useful: searchWords(state.instruction) } as const;
      const end = { kind: 'literal', text: ']' } as const;
      known = [[{ kind: 'literal', text: 'search[' }, words, end]];
      if (choices.length > 0) known = [...known, [{ kind: 'literal', text: 'click[' }, { kind: 'choice', options: choices }, end]];
      if (this.#grammars.size >= MOST_CACHED) this.#grammars.clear();
      this.#grammars.set(key, known);
    }
    return known;
  }
}
