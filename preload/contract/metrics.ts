// Calls for charts: series thinned out to what a chart can show, histograms, and the glossary. Numbers travel as typed
// arrays: they need no checking one by one, and 10,000 points cross in a moment.

import { z } from 'zod';
import { directions } from '../../main/base/vocabulary.ts';
import { nothing } from './definition.ts';

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

export const metricCalls = {
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
