// Metric points. Appending must be cheap (one small row per update, whatever the number of metrics) and reading one
// metric over a whole run must be too, so the newest updates wait in a tail and move in blocks into one packed row per
// metric. A value keeps all its bits (NaN and infinities included); those that are float32 anyway take four bytes.

import type { Statement } from 'better-sqlite3';
import type { Connection } from './database.ts';
import type { Dictionary } from './dictionary.ts';
import { ByteReader, ByteWriter } from './pack.ts';

/** Updates gathered in the tail before they move into chunks. */
const BLOCK = 240;
/** Points a chunk may grow to: two blocks, which as float64 just fit a database page and as float32 half of one. */
const CHUNK_POINTS = 2 * BLOCK;

export interface Series {
  readonly updates: Int32Array;
  readonly values: Float64Array;
}

export interface SeriesOptions {
  readonly from?: number;
  readonly to?: number;
  /** Reduce to about this many points, keeping the extremes of every stretch. */
  readonly points?: number;
}

const REGULAR = 1;
const FLOAT32 = 2;

export class MetricStore {
  readonly #db: Connection;
  readonly #dictionary: Dictionary;
  readonly #append: Statement<[number, number, Buffer]>;
  readonly #tailSize: Statement<[number], { n: number }>;
  readonly #tail: Statement<[number, number, number], { update_no: number; data: Buffer }>;
  readonly #chunks: Statement<[number, number, number, number], { data: Buffer }>;
  readonly #newest: Statement<[number, number], { id: number; points: number; last_update: number; data: Buffer }>;
  readonly #addChunk: Statement<[number, number, number, number, number, Buffer]>;
  readonly #setChunk: Statement<[number, number, Buffer, number]>;

  constructor(db: Connection, dictionary: Dictionary) {
    this.#db = db;
    this.#dictionary = dictionary;
    this.#append = db.prepare('INSERT OR REPLACE INTO metric_tail VALUES (?, ?, ?)');
    this.#tailSize = db.prepare('SELECT count(*) AS n FROM metric_tail WHERE run_id = ?');
    this.#tail = db.prepare('SELECT update_no, data FROM metric_tail WHERE run_id = ? AND update_no BETWEEN ? AND ? ORDER BY update_no');
    this.#chunks = db.prepare(
      'SELECT data FROM metric_chunks WHERE run_id = ? AND metric = ? AND last_update >= ? AND first_update <= ? ORDER BY first_update',
    );
    this.#newest = db.prepare(
      'SELECT id, points, last_update, data FROM metric_chunks WHERE run_id = ? AND metric = ? ORDER BY first_update DESC LIMIT 1',
    );
    this.#addChunk = db.prepare(
      'INSERT INTO metric_chunks (run_id, metric, first_update, last_update, points, data) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#setChunk = db.prepare('UPDATE metric_chunks SET last_update = ?, points = ?, data = ? WHERE id = ?');
  }

  /** Records all values of one update. Updates come in order; the same update again adds to what it has. */
  append(run: number, update: number, values: Readonly<Record<string, number>>): void {
    this.#dictionary.write(() => {
      const row = new Map<number, number>();
      for (const { data } of this.#tail.all(run, update, update)) readTailRow(data, (metric, value) => row.set(metric, value));
      for (const [name, value] of Object.entries(values)) row.set(this.#dictionary.label(name), value);
      const writer = new ByteWriter();
      for (const [metric, value] of row) {
        const short = Object.is(Math.fround(value), value);
        writer.varint(metric * 2 + (short ? 1 : 0));
        if (short) writer.float32(value);
        else writer.float64(value);
      }
      this.#append.run(run, update, writer.bytes());
      if ((this.#tailSize.get(run)?.n ?? 0) > BLOCK) this.compact(run, update - 1);
    });
  }

  /** Moves the tail up to `lastUpdate` into chunks. Done as it grows, and once when a run ends. */
  compact(run: number, lastUpdate = Number.MAX_SAFE_INTEGER): void {
    this.#dictionary.write(() => {
      const series = new Map<number, { updates: number[]; values: number[] }>();
      for (const { update_no: update, data } of this.#tail.all(run, 0, lastUpdate)) {
        readTailRow(data, (metric, value) => {
          let points = series.get(metric);
          if (points === undefined) series.set(metric, (points = { updates: [], values: [] }));
          points.updates.push(update);
          points.values.push(value);
        });
      }
      for (const [metric, points] of series) this.#addPoints(run, metric, points.updates, points.values);
      this.#db.prepare('DELETE FROM metric_tail WHERE run_id = ? AND update_no <= ?').run(run, lastUpdate);
    });
  }

  /** A whole series at once, for an import. */
  addSeries(run: number, name: string, updates: Int32Array, values: Float64Array): void {
    this.#dictionary.write(() => this.#addPoints(run, this.#dictionary.label(name), [...updates], [...values]));
  }

  /** A point that is there already is not added again: the same update gives the same number. */
  #addPoints(run: number, metric: number, allUpdates: number[], allValues: number[]): void {
    const newest = this.#newest.get(run, metric);
    const fresh = (index: number): boolean => newest === undefined || newest.points === 0 || (allUpdates[index] ?? 0) > newest.last_update;
    const updates = allUpdates.filter((_, index) => fresh(index));
    const values = allValues.filter((_, index) => fresh(index));
    if (newest !== undefined && newest.points + updates.length <= CHUNK_POINTS) {
      const old = unpackChunk(newest.data);
      const all = { updates: [...old.updates, ...updates], values: [...old.values, ...values] };
      this.#setChunk.run(all.updates.at(-1) ?? 0, all.updates.length, packChunk(all.updates, all.values), newest.id);
      return;
    }
    for (let from = 0; from < updates.length; from += CHUNK_POINTS) {
      const part = updates.slice(from, from + CHUNK_POINTS);
      const data = packChunk(part, values.slice(from, from + CHUNK_POINTS));
      this.#addChunk.run(run, metric, part[0] ?? 0, part.at(-1) ?? 0, part.length, data);
    }
  }

  /** Forgets every point after `lastUpdate`. */
  truncate(run: number, lastUpdate: number): void {
    this.#dictionary.write(() => {
      this.#db.prepare('DELETE FROM metric_tail WHERE run_id = ? AND update_no > ?').run(run, lastUpdate);
      this.#db.prepare('DELETE FROM metric_chunks WHERE run_id = ? AND first_update > ?').run(run, lastUpdate);
      const cut = this.#db
        .prepare<[number, number], { id: number; data: Buffer }>('SELECT id, data FROM metric_chunks WHERE run_id = ? AND last_update > ?')
        .all(run, lastUpdate);
      for (const { id, data } of cut) {
        const { updates, values } = unpackChunk(data);
        const keep = updates.filter((update) => update <= lastUpdate).length;
        const part = [...updates.subarray(0, keep)];
        this.#setChunk.run(part.at(-1) ?? 0, keep, packChunk(part, [...values.subarray(0, keep)]), id);
      }
      this.#db.prepare('DELETE FROM distributions WHERE run_id = ? AND update_no > ?').run(run, lastUpdate);
    });
  }

  /** The names of what a run recorded, sorted. */
  names(run: number): string[] {
    const ids = new Set<number>();
    for (const { metric } of this.#db
      .prepare<[number], { metric: number }>('SELECT DISTINCT metric FROM metric_chunks WHERE run_id = ?')
      .all(run))
      ids.add(metric);
    for (const { data } of this.#tail.all(run, 0, Number.MAX_SAFE_INTEGER)) readTailRow(data, (metric) => ids.add(metric));
    return [...ids].map((id) => this.#dictionary.labelText(id)).sort();
  }

  series(run: number, name: string, options: SeriesOptions = {}): Series {
    return this.many(run, [name], options)[name] ?? { updates: new Int32Array(), values: new Float64Array() };
  }

  /** Several metrics of a run; the tail is read once for all of them. */
  many(run: number, names: readonly string[], options: SeriesOptions = {}): Record<string, Series> {
    const from = options.from ?? 0;
    const to = options.to ?? Number.MAX_SAFE_INTEGER;
    const wanted = new Map<number, { name: string; parts: Series[]; updates: number[]; values: number[] }>();
    for (const name of names) {
      const metric = this.#dictionary.findLabel(name);
      if (metric === undefined) continue;
      const parts = this.#chunks.all(run, metric, from, to).map(({ data }) => unpackChunk(data));
      wanted.set(metric, { name, parts, updates: [], values: [] });
    }
    for (const { update_no: update, data } of this.#tail.all(run, from, to)) {
      readTailRow(data, (metric, value) => {
        const series = wanted.get(metric);
        series?.updates.push(update);
        series?.values.push(value);
      });
    }
    const result: Record<string, Series> = {};
    for (const { name, parts, updates, values } of wanted.values()) {
      const whole = join([...parts, { updates: Int32Array.from(updates), values: Float64Array.from(values) }], from, to);
      result[name] = options.points === undefined ? whole : decimate(whole, options.points);
    }
    return result;
  }

  /** The newest point of every metric. */
  latest(run: number): Record<string, readonly [update: number, value: number]> {
    const result: Record<string, readonly [number, number]> = {};
    const chunks = this.#db
      .prepare<[number], { metric: number; data: Buffer; newest: number }>(
        'SELECT metric, data, max(first_update) AS newest FROM metric_chunks WHERE run_id = ? GROUP BY metric',
      )
      .all(run);
    for (const { metric, data } of chunks) {
      const { updates, values } = unpackChunk(data);
      result[this.#dictionary.labelText(metric)] = [updates.at(-1) ?? 0, values.at(-1) ?? NaN];
    }
    for (const { update_no: update, data } of this.#tail.all(run, 0, Number.MAX_SAFE_INTEGER)) {
      readTailRow(data, (metric, value) => (result[this.#dictionary.labelText(metric)] = [update, value]));
    }
    return result;
  }

  addDistribution(run: number, update: number, name: string, samples: Float32Array): void {
    const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
    const metric = this.#dictionary.label(name);
    this.#db.prepare('INSERT OR REPLACE INTO distributions VALUES (?, ?, ?, ?)').run(run, metric, update, data);
  }

  /** The names of the distributions of a run. */
  distributed(run: number): string[] {
    return this.#db
      .prepare<[number], { metric: number }>('SELECT DISTINCT metric FROM distributions WHERE run_id = ?')
      .all(run)
      .map(({ metric }) => this.#dictionary.labelText(metric));
  }

  /** The raw samples of every update in a range, oldest first. */
  distributions(run: number, name: string, from = 0, to = Number.MAX_SAFE_INTEGER): { update: number; samples: Float32Array }[] {
    const metric = this.#dictionary.findLabel(name);
    if (metric === undefined) return [];
    return this.#db
      .prepare<[number, number, number, number], { update_no: number; samples: Buffer }>(
        'SELECT update_no, samples FROM distributions WHERE run_id = ? AND metric = ? AND update_no BETWEEN ? AND ? ORDER BY update_no',
      )
      .all(run, metric, from, to)
      .map((row) => ({ update: row.update_no, samples: new Float32Array(Uint8Array.from(row.samples).buffer) }));
  }
}

function readTailRow(data: Buffer, point: (metric: number, value: number) => void): void {
  const reader = new ByteReader(data);
  while (!reader.done) {
    const code = reader.varint();
    point(Math.floor(code / 2), code % 2 === 1 ? reader.float32() : reader.float64());
  }
}

function packChunk(updates: readonly number[], values: readonly number[]): Buffer {
  const writer = new ByteWriter();
  const stride = (updates[1] ?? 0) - (updates[0] ?? 0);
  const regular = updates.every((update, i) => i === 0 || update - (updates[i - 1] ?? 0) === stride);
  const short = values.every((value) => Object.is(Math.fround(value), value));
  writer.byte((regular ? REGULAR : 0) | (short ? FLOAT32 : 0));
  writer.varint(updates.length);
  if (updates.length === 0) return writer.bytes();
  writer.varint(updates[0] ?? 0);
  if (regular) writer.varint(stride < 0 ? 0 : stride);
  else for (let i = 1; i < updates.length; i++) writer.varint((updates[i] ?? 0) - (updates[i - 1] ?? 0));
  for (const value of values) {
    if (short) writer.float32(value);
    else writer.float64(value);
  }
  return writer.bytes();
}

function unpackChunk(data: Buffer): Series {
  const reader = new ByteReader(data);
  const flags = reader.byte();
  const count = reader.varint();
  const updates = new Int32Array(count);
  const values = new Float64Array(count);
  if (count === 0) return { updates, values };
  updates[0] = reader.varint();
  const stride = flags & REGULAR ? reader.varint() : 0;
  for (let i = 1; i < count; i++) updates[i] = (updates[i - 1] ?? 0) + (flags & REGULAR ? stride : reader.varint());
  const packed = Uint8Array.from(data.subarray(data.length - count * (flags & FLOAT32 ? 4 : 8))).buffer;
  values.set(flags & FLOAT32 ? new Float32Array(packed) : new Float64Array(packed));
  return { updates, values };
}

function join(parts: readonly Series[], from: number, to: number): Series {
  const count = parts.reduce((total, part) => total + part.updates.length, 0);
  const updates = new Int32Array(count);
  const values = new Float64Array(count);
  let at = 0;
  for (const part of parts) {
    updates.set(part.updates, at);
    values.set(part.values, at);
    at += part.updates.length;
  }
  const first = updates.findIndex((update) => update >= from);
  const last = updates.findLastIndex((update) => update <= to);
  if (first <= 0 && last === count - 1) return { updates, values };
  return { updates: updates.slice(Math.max(0, first), last + 1), values: values.slice(Math.max(0, first), last + 1) };
}

/**
 * About `points` points that draw the same line: of every stretch its lowest and highest value, in their order, and one
 * value that is not a number where there is any, so that spikes and gaps stay visible. First and last are kept.
 */
export function decimate(series: Series, points: number): Series {
  const count = series.updates.length;
  if (count <= points || points < 4) return series;
  const stretches = Math.floor((points - 2) / 2);
  const keep: number[] = [0];
  for (let stretch = 0; stretch < stretches; stretch++) {
    const from = 1 + Math.floor((stretch * (count - 2)) / stretches);
    const to = 1 + Math.floor(((stretch + 1) * (count - 2)) / stretches);
    let low = -1;
    let high = -1;
    let gap = -1;
    for (let i = from; i < to; i++) {
      const value = series.values[i] ?? NaN;
      if (Number.isNaN(value)) gap = i;
      else {
        if (low < 0 || value < (series.values[low] ?? 0)) low = i;
        if (high < 0 || value > (series.values[high] ?? 0)) high = i;
      }
    }
    const chosen = [...new Set([low, high, gap])].filter((index) => index >= 0).sort((a, b) => a - b);
    keep.push(...chosen);
  }
  keep.push(count - 1);
  return { updates: Int32Array.from(keep, (i) => series.updates[i] ?? 0), values: Float64Array.from(keep, (i) => series.values[i] ?? NaN) };
}
