// Metrics and episodes as CSV and JSON lines, for spreadsheets and scripts. CSV after RFC 4180; a number that is none is
// written NaN, Infinity or -Infinity, which Python and R read back. JSON lines hold every episode completely.

import { csvLine } from '../base/format.ts';
import type { EpisodeFilter } from '../store/episodes.ts';
import type { Store } from '../store/store.ts';

/** A row per update, a column per metric; empty where a metric has no point. */
export function* metricsCsv(store: Store, run: number): Generator<string> {
  const names = store.metrics.names(run);
  const series = store.metrics.many(run, names);
  const columns = names.map(
    (name) => new Map([...(series[name]?.updates ?? [])].map((update, i) => [update, series[name]?.values[i] ?? NaN])),
  );
  const updates = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => a - b);
  yield csvLine(['update', ...names]);
  for (const update of updates) yield csvLine([update, ...columns.map((column) => column.get(update) ?? null)]);
}

/** A line per point; numbers that JSON lacks are texts. */
export function* metricsJsonLines(store: Store, run: number): Generator<string> {
  for (const name of store.metrics.names(run)) {
    const { updates, values } = store.metrics.series(run, name);
    for (const [index, update] of updates.entries())
      yield `${JSON.stringify({ run, name, update, value: jsonNumber(values[index] ?? NaN) })}\n`;
  }
}

const EPISODE_COLUMNS = [
  'id',
  'run',
  'update',
  'purpose',
  'split',
  'task',
  'category',
  'tier',
  'seed',
  'success',
  'return',
  'failure',
  'vstar',
  'advantage',
  'surprise',
  'steps',
  'tokens',
] as const;

export function* episodesCsv(store: Store, run: number, filter: EpisodeFilter = {}): Generator<string> {
  yield csvLine([...EPISODE_COLUMNS, 'actions']);
  for (const episode of store.episodes.each(run, filter)) {
    yield csvLine([...EPISODE_COLUMNS.map((column) => episode[column]), episode.actions.join(' → ')]);
  }
}

/** The audit log: every episode with all its steps, and on request the numbers of every token. */
export function* episodesJsonLines(store: Store, run: number, filter: EpisodeFilter = {}, withTokens = false): Generator<string> {
  for (const { id, update } of store.episodes.each(run, filter)) {
    const trajectory = store.trajectories.read(id);
    const steps = trajectory.steps.map(({ tokens, ...step }) => ({
      ...step,
      ...(withTokens && { tokens: Object.fromEntries(Object.entries(tokens).map(([name, values]) => [name, [...values]])) }),
    }));
    yield `${JSON.stringify({ id, run, recorded: update, ...trajectory, steps }, (_key, value) => (typeof value === 'number' ? jsonNumber(value) : value))}\n`;
  }
}

/** As JSON can hold it: NaN and the infinities as texts. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
