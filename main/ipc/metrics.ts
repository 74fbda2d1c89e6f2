// Calls for charts: series over update, episode or time, histograms, the glossary.

import type { Axis, Histogram, metricCalls } from '../../preload/contract/metrics.ts';
import { glossary } from '../metrics/glossary.ts';
import { decimate, type Series } from '../store/metrics.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import type { Handlers } from './dispatch.ts';

const AXIS_METRIC: Readonly<Record<Axis, string | null>> = { update: null, episodes: 'episodes', time: 'system/time.elapsed' };
const BINS = 32;

export function metricHandlers(context: Context): Handlers<typeof metricCalls> {
  return {
    'metrics.glossary': () => ({
      metrics: [...glossary.values()].map(({ id, name, formula, unit, direction }) => ({ id, name, formula, unit, direction })),
    }),

    'metrics.series': ({ run, names, axis, points, from, to }) => {
      const { metrics } = context.lab.store;
      const along = AXIS_METRIC[axis];
      const scale = along === null ? null : metrics.series(run, along);
      const range = { from: updateAt(scale, from, 0), to: updateAt(scale, to, Number.MAX_SAFE_INTEGER) };
      const all = metrics.many(run, names, { from: Math.max(0, range.from - 1), to: range.to + 1 });
      return {
        series: Object.entries(all).map(([name, whole]) => {
          const { updates, values } = decimate(whole, points);
          return { name, updates: Float64Array.from(updates), x: placed(updates, scale), y: Float64Array.from(values) };
        }),
      };
    },

    'metrics.histogram': ({ run, name, update }) => {
      const { store } = context.lab;
      if (name === 'vstar') return { histogram: vstarHistogram(store, run) };
      const all = store.metrics.distributions(run, name);
      const chosen = (update === null ? undefined : all.findLast((entry) => entry.update <= update)) ?? all.at(-1);
      if (!chosen) return { histogram: null };
      const [low, high] = extremes(all.map(({ samples }) => samples));
      const updates = all.map((entry) => entry.update);
      return { histogram: { update: chosen.update, updates, ...binned(chosen.samples, low, high) } };
    },
  };
}

/** The last update at or before a place on the axis. */
function updateAt(scale: Series | null, place: number | undefined, otherwise: number): number {
  if (place === undefined) return otherwise;
  if (scale === null) return Math.max(0, Math.round(place));
  const index = scale.values.findLastIndex((value) => value <= place);
  return index < 0 ? 0 : (scale.updates[index] ?? 0);
}

/** Where updates lie on the axis. Both lists ascend, so one walk is enough. */
function placed(updates: Int32Array, scale: Series | null): Float64Array<ArrayBuffer> {
  if (scale === null) return Float64Array.from(updates);
  let at = 0;
  return Float64Array.from(updates, (update) => {
    while (at + 1 < scale.updates.length && (scale.updates[at + 1] ?? 0) <= update) at++;
    return (scale.updates[at] ?? 0) <= update ? (scale.values[at] ?? 0) : 0;
  });
}

function vstarHistogram(store: Store, run: number): Histogram | null {
  const values = Float32Array.from(store.vstar.ofRun(run), ({ value }) => value);
  if (values.length === 0) return null;
  const [low, high] = extremes([values]);
  return { update: store.runs.get(run).updates, updates: [], ...binned(values, low, high) };
}

function extremes(all: readonly Float32Array[]): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const samples of all) {
    for (const value of samples) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function binned(samples: Float32Array, low: number, high: number): Pick<Histogram, 'low' | 'width' | 'counts' | 'n' | 'mean'> {
  const width = (high - low) / BINS;
  const counts = Array.from({ length: BINS }, () => 0);
  let sum = 0;
  let n = 0;
  for (const value of samples) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor((value - low) / width)));
    counts[bin] = (counts[bin] ?? 0) + 1;
    sum += value;
    n += 1;
  }
  return { low, width, counts, n, mean: n === 0 ? 0 : sum / n };
}
