// Calls for charts: series thinned out to what a chart can show, histograms, and the glossary. Numbers travel as typed
// arrays: they need no checking one by one, and 10,000 points cross in a moment.

import { z } from 'zod';
import { directions } from '../../base/vocabulary.ts';
import { decimate, type Series } from '../../store/metrics.ts';
import type { Store } from '../../store/store.ts';
import { type Handlers, nothing } from '../definition.ts';
import { glossaryOf } from '../../metrics/glossary.ts';
import type { Lab } from '../lab.ts';

export const axis = z.enum(['update', 'episodes', 'time']);
export type Axis = z.infer<typeof axis>;

const numbers = z.instanceof(Float64Array);
const run = z.int().min(1);
const series = z.object({ name: z.string(), updates: numbers, x: numbers, y: numbers });

const metric = z.object({
  id: z.string(),
  name: z.string(),
  formula: z.string(),
  unit: z.string(),
  direction: z.enum(directions),
});
export type Metric = z.infer<typeof metric>;

const histogram = z.object({
  /** The update it shows, and all that have one. */
  update: z.number(),
  updates: z.array(z.number()),
  low: z.number(),
  width: z.number(),
  counts: z.array(z.number()),
  n: z.number(),
  mean: z.number(),
});
export type Histogram = z.infer<typeof histogram>;

export const calls = {
  'metrics.glossary': { input: nothing, answer: z.object({ metrics: z.array(metric) }) },
  'metrics.series': {
    input: z.strictObject({
      run,
      names: z.array(z.string().max(100)).max(100),
      axis,
      /** About this many points each, keeping the extremes of every stretch. */
      points: z.int().min(10).max(20_000),
      /** The part that is looked at, in units of the axis. */
      from: z.number().optional(),
      to: z.number().optional(),
    }),
    answer: z.object({ series: z.array(series) }),
  },
  /** Samples of an update in bins whose place does not depend on the update. Null when nothing was recorded. */
  'metrics.histogram': {
    input: z.strictObject({ run, name: z.string().max(100), update: z.int().min(0).nullable() }),
    answer: z.object({ histogram: histogram.nullable() }),
  },
};

const AXIS_METRIC: Readonly<Record<Axis, string | null>> = { update: null, episodes: 'episodes', time: 'system/time.elapsed' };
const BINS = 32;

export function handlers(lab: Lab): Handlers<typeof calls> {
  return {
    'metrics.glossary': () => ({
      metrics: [...glossaryOf(lab.catalog).values()].map(({ id, name, formula, unit, direction }) => ({
        id,
        name,
        formula,
        unit,
        direction,
      })),
    }),

    'metrics.series': ({ run, names, axis, points, from, to }) => {
      const { metrics } = lab.store;
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
      const { store } = lab;
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
