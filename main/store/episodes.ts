// The list of episodes with its filters: by purpose, update, outcome, category, tier, failure class, task and text,
// sorted by when they happened or by return, advantage, surprise or length. The rows of a run lie side by side, so even
// a filter without an index reads 100,000 of them in well under 100 ms.

import type { Trajectory } from '../rollout/trajectory.ts';
import type { EpisodeOrder, Purpose } from '../base/vocabulary.ts';
import type { Connection } from './database.ts';
import { type Dictionary, fromColumn } from './dictionary.ts';
import { type EpisodeColumns, episodeRange, readPurpose, readSplit, runOfEpisode, splitActions } from './trajectories.ts';

export interface EpisodeFilter {
  readonly purpose?: Purpose;
  /** The update it was recorded in. */
  readonly fromUpdate?: number;
  readonly toUpdate?: number;
  readonly success?: boolean;
  readonly category?: string;
  readonly tier?: string;
  readonly failure?: string;
  readonly task?: string;
  /** Part of an action, of the task's id or of a comment. */
  readonly text?: string;
  /** With `text`: also what the world showed (ids of texts that have it, see `textsOf`) and what the agent thought. */
  readonly observations?: readonly number[];
  readonly starred?: boolean;
}

export interface EpisodeSummary {
  readonly id: number;
  readonly run: number;
  /** The update it was recorded in, and the one whose weights acted. */
  readonly update: number;
  readonly acted: number;
  readonly purpose: Purpose;
  readonly split: Trajectory['split'];
  readonly task: string;
  readonly category: string;
  readonly tier: string;
  readonly failure: string | null;
  readonly seed: number;
  readonly success: boolean;
  readonly return: number;
  readonly vstar: number | null;
  readonly advantage: number | null;
  /** Mean of −ln π over the agent's tokens: how unlikely it found its words. */
  readonly surprise: number;
  readonly steps: number;
  readonly tokens: number;
  readonly actions: readonly string[];
}

export interface EpisodePage {
  readonly total: number;
  readonly episodes: readonly EpisodeSummary[];
}

export interface EpisodeFacets {
  readonly purposes: Readonly<Record<string, number>>;
  readonly categories: Readonly<Record<string, number>>;
  readonly tiers: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

interface Row extends EpisodeColumns {
  readonly recorded: number;
  readonly surprise: number | string;
  readonly steps: number;
  readonly tokens: number;
}

interface FacetRow {
  readonly purpose: number;
  readonly category: number;
  readonly tier: number;
  readonly failure: number | null;
  readonly n: number;
}

/** One row for each combination. */
function merged(rows: readonly FacetRow[]): FacetRow[] {
  const groups = Map.groupBy(rows, ({ purpose, category, tier, failure }) => `${purpose} ${category} ${tier} ${failure}`);
  return [...groups.values()].flatMap((same) => {
    const [one] = same;
    return one ? [{ ...one, n: same.reduce((sum, { n }) => sum + n, 0) }] : [];
  });
}

/** Where a text may occur; `observations` are the texts that have it, undefined where only actions and tasks are searched. */
function whereText(range: readonly [number, number], text: string, observations: readonly number[] | undefined) {
  const pattern = `%${text.replaceAll(/[\\%_]/g, (mark) => `\\${mark}`)}%`;
  const like = `LIKE ? ESCAPE '\\'`;
  const parts = [
    `actions ${like}`,
    `task IN (SELECT id FROM labels WHERE text ${like})`,
    `id IN (SELECT episode_id FROM episode_notes WHERE comment ${like})`,
  ];
  const values: (number | string)[] = [pattern, pattern, pattern];
  if (observations) {
    const ids = JSON.stringify(observations);
    parts.push(
      'final_text IN (SELECT value FROM json_each(?))',
      `id IN (SELECT episode_id FROM steps WHERE episode_id BETWEEN ? AND ? AND
        (thought ${like} OR observation IN (SELECT value FROM json_each(?))))`,
    );
    values.push(ids, ...range, pattern, ids);
  }
  return { parts, values };
}

/** So many are gone through in about 10 ms. */
const EPISODES_AT_A_TIME = 3000;

const NOTHING: EpisodePage = { total: 0, episodes: [] };

const COLUMNS =
  'id, recorded, acted, purpose, split, task, category, tier, failure, seed, success, return, vstar, advantage, surprise, steps, tokens, actions';
const ORDERS: Record<EpisodeOrder, string> = { time: 'id', return: 'return', advantage: 'advantage', surprise: 'surprise', steps: 'steps' };

export class EpisodeList {
  readonly #db: Connection;
  readonly #dictionary: Dictionary;
  /** What facets() counted: up to which episode, and how many there were. */
  readonly #counted = new Map<number, { readonly total: number; readonly last: number; readonly rows: readonly FacetRow[] }>();

  constructor(db: Connection, dictionary: Dictionary) {
    this.#db = db;
    this.#dictionary = dictionary;
  }

  /** One page of a run's episodes and how many there are in all. */
  page(run: number, filter: EpisodeFilter, order: EpisodeOrder = 'time', descending = false, limit = 100, offset = 0): EpisodePage {
    const where = this.#where(run, filter);
    if (where === undefined) return NOTHING;
    const direction = descending ? 'DESC' : 'ASC';
    const sort = order === 'time' ? `id ${direction}` : `${ORDERS[order]} ${direction}, id`;
    const everything = Object.values(filter).every((value) => value === undefined || value === '');
    if (order === 'time' && !everything) {
      // One pass over the rows finds them all: the number for the scroll bar, a slice for the page.
      const ids = this.#db
        .prepare<(number | string)[], number>(`SELECT id FROM episodes WHERE ${where.sql} ORDER BY ${sort}`)
        .pluck()
        .all(...where.values);
      return { total: ids.length, episodes: ids.slice(offset, offset + limit).map((id) => this.get(id)) };
    }
    const counted = this.#db.prepare<(number | string)[], { n: number }>(`SELECT count(*) AS n FROM episodes WHERE ${where.sql}`);
    const rows = this.#db
      .prepare<(number | string)[], Row>(`SELECT ${COLUMNS} FROM episodes WHERE ${where.sql} ORDER BY ${sort} LIMIT ? OFFSET ?`)
      .all(...where.values, limit, offset);
    return {
      total: everything ? this.count(run) : (counted.get(...where.values)?.n ?? 0),
      episodes: rows.map((row) => this.#fromRow(row)),
    };
  }

  /** One page of these episodes, which `matching` found. */
  pageOf(ids: readonly number[], order: EpisodeOrder, descending: boolean, limit: number, offset: number): EpisodePage {
    const total = ids.length;
    if (order === 'time') {
      const shown = descending
        ? ids.slice(Math.max(0, total - offset - limit), Math.max(0, total - offset)).reverse()
        : ids.slice(offset, offset + limit);
      return { total, episodes: shown.map((id) => this.get(id)) };
    }
    const rows = this.#db
      .prepare<[string, number, number], Row>(
        `SELECT ${COLUMNS} FROM episodes WHERE id IN (SELECT value FROM json_each(?))
         ORDER BY ${ORDERS[order]} ${descending ? 'DESC' : 'ASC'}, id LIMIT ? OFFSET ?`,
      )
      .all(JSON.stringify(ids), limit, offset);
    return { total, episodes: rows.map((row) => this.#fromRow(row)) };
  }

  /** Ids of the matching episodes in their order, some thousand episodes gone through at a time. */
  *matching(run: number, filter: EpisodeFilter): Generator<number[], void> {
    for (const range of this.#windows(run)) {
      const where = this.#where(run, filter, range);
      if (where === undefined) return;
      yield this.#db
        .prepare<(number | string)[], number>(`SELECT id FROM episodes WHERE ${where.sql} ORDER BY id`)
        .pluck()
        .all(...where.values);
    }
  }

  /** The episodes of a run in parts: the first and the last id of each. */
  *#windows(run: number): Generator<readonly [number, number], void> {
    const [begin, end] = episodeRange(run);
    const next = this.#db
      .prepare<number[], number>(`SELECT id FROM episodes WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1 OFFSET ${EPISODES_AT_A_TIME}`)
      .pluck();
    for (let from = begin; ;) {
      const to = next.get(from, end);
      yield [from, to === undefined ? end : to - 1];
      if (to === undefined) return;
      from = to;
    }
  }

  /** All episodes of a run. */
  count(run: number): number {
    return this.#db.prepare<[number], { n: number }>('SELECT count(*) AS n FROM episodes WHERE run_id = ?').get(run)?.n ?? 0;
  }

  get(episode: number): EpisodeSummary {
    const row = this.#db.prepare<[number], Row>(`SELECT ${COLUMNS} FROM episodes WHERE id = ?`).get(episode);
    if (row === undefined) throw new Error(`There is no episode ${episode} (of run ${runOfEpisode(episode)})`);
    return this.#fromRow(row);
  }

  /** Every matching episode, one after the other, without holding them all in memory. */
  *each(run: number, filter: EpisodeFilter = {}): Generator<EpisodeSummary> {
    const where = this.#where(run, filter);
    if (where === undefined) return;
    const page = this.#db.prepare<(number | string)[], Row>(
      `SELECT ${COLUMNS} FROM episodes WHERE ${where.sql} AND id > ? ORDER BY id LIMIT 500`,
    );
    for (let last = -1; ;) {
      const rows = page.all(...where.values, last);
      for (const row of rows) yield this.#fromRow(row);
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.id;
    }
  }

  /**
   * What there is to filter by, with counts. Counting 100,000 episodes takes over 100 ms, and episodes are only ever added at
   * the end (or taken off it), so what was counted once is kept and only what came since is counted.
   */
  facets(run: number): EpisodeFacets {
    const [first, end] = episodeRange(run);
    const total = this.count(run);
    const known = this.#counted.get(run);
    const last = known?.last ?? first - 1;
    const fresh = this.#count(last + 1, end);
    const added = fresh.reduce((sum, { n }) => sum + n, 0);
    const whole = known !== undefined && known.total + added === total;
    const rows = whole ? [...known.rows, ...fresh] : known === undefined ? fresh : this.#count(first, end);
    const newest = this.#db.prepare<[number, number], { id: number | null }>('SELECT max(id) AS id FROM episodes WHERE id BETWEEN ? AND ?');
    this.#counted.set(run, { total, last: newest.get(first, end)?.id ?? first - 1, rows: merged(rows) });
    const sum = (column: 'purpose' | 'category' | 'tier' | 'failure'): Record<string, number> => {
      const counts: Record<string, number> = {};
      for (const row of rows) {
        const id = row[column];
        if (id === null) continue;
        const label = this.#dictionary.labelText(id);
        counts[label] = (counts[label] ?? 0) + row.n;
      }
      return counts;
    };
    return { purposes: sum('purpose'), categories: sum('category'), tiers: sum('tier'), failures: sum('failure') };
  }

  #count(from: number, to: number): FacetRow[] {
    return this.#db
      .prepare<[number, number], FacetRow>(
        'SELECT purpose, category, tier, failure, count(*) AS n FROM episodes WHERE id BETWEEN ? AND ? GROUP BY purpose, category, tier, failure',
      )
      .all(from, to);
  }

  /** Undefined when nothing can match: a label that no episode has. */
  #where(run: number, filter: EpisodeFilter, range = episodeRange(run)): { sql: string; values: (number | string)[] } | undefined {
    const parts = ['id BETWEEN ? AND ?'];
    const values: (number | string)[] = [...range];
    if (filter.fromUpdate !== undefined || filter.toUpdate !== undefined) {
      parts.push('run_id = ? AND recorded BETWEEN ? AND ?');
      values.push(run, filter.fromUpdate ?? 0, filter.toUpdate ?? Number.MAX_SAFE_INTEGER);
    }
    if (filter.success !== undefined) {
      parts.push('success = ?');
      values.push(filter.success ? 1 : 0);
    }
    for (const column of ['purpose', 'category', 'tier', 'failure', 'task'] as const) {
      const text = filter[column];
      if (text === undefined) continue;
      const label = this.#dictionary.findLabel(text);
      if (label === undefined) return undefined;
      parts.push(`${column} = ?`);
      values.push(label);
    }
    if (filter.starred === true) parts.push('id IN (SELECT episode_id FROM episode_notes WHERE starred = 1)');
    if (filter.text !== undefined && filter.text !== '') {
      const found = whereText(range, filter.text, filter.observations);
      parts.push(`(${found.parts.join(' OR ')})`);
      values.push(...found.values);
    }
    return { sql: parts.join(' AND '), values };
  }

  /** Ids of everything that the world showed in a run's episodes, some thousand episodes at a time: what they add to those before. */
  *textsOf(run: number): Generator<number[], void> {
    const texts = this.#db
      .prepare<number[], number>(
        `SELECT observation FROM steps WHERE episode_id BETWEEN ? AND ?
         UNION SELECT final_text FROM episodes WHERE id BETWEEN ? AND ?`,
      )
      .pluck();
    const seen = new Set<number>();
    for (const range of this.#windows(run)) {
      const fresh = texts.all(...range, ...range).filter((id) => !seen.has(id));
      for (const id of fresh) seen.add(id);
      yield fresh;
    }
  }

  /** Whether a text has this part, in whatever case. */
  textHas(text: number, part: string): boolean {
    return this.#dictionary.readText(text).toLowerCase().includes(part.toLowerCase());
  }

  #fromRow(row: Row): EpisodeSummary {
    const label = (id: number): string => this.#dictionary.labelText(id);
    return {
      id: row.id,
      run: runOfEpisode(row.id),
      update: row.recorded,
      acted: row.acted,
      purpose: readPurpose(label(row.purpose)),
      split: readSplit(label(row.split)),
      task: label(row.task),
      category: label(row.category),
      tier: label(row.tier),
      failure: row.failure === null ? null : label(row.failure),
      seed: row.seed,
      success: row.success === 1,
      return: fromColumn(row.return),
      vstar: row.vstar === null ? null : fromColumn(row.vstar),
      advantage: row.advantage === null ? null : fromColumn(row.advantage),
      surprise: fromColumn(row.surprise),
      steps: row.steps,
      tokens: row.tokens,
      actions: splitActions(row.actions),
    };
  }
}
