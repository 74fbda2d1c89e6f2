// Calls of every chart's menu: the picture to the clipboard, or to a file that the user names in the system's dialog.

import { z } from 'zod';
import { nothing } from './definition.ts';

const anyNumber = z.union([z.number(), z.nan(), z.literal(Number.POSITIVE_INFINITY), z.literal(Number.NEGATIVE_INFINITY)]);
const numbers = z.array(anyNumber).max(200_000);
/** A PNG as base64. */
const png = z.string().max(60_000_000);

const line = z.strictObject({
  label: z.string().max(400),
  /** Number of the colour in the set for runs. */
  colour: z.int().min(0).max(100),
  dash: z.array(z.number()).max(8),
  x: numbers,
  y: numbers,
  low: numbers.optional(),
  high: numbers.optional(),
});

const figure = z.strictObject({
  title: z.string().max(400),
  unit: z.string().max(60),
  xLabel: z.string().max(60),
  lines: z.array(line).max(500),
});
export type Figure = z.infer<typeof figure>;

export const chartCalls = {
  'charts.copy': { input: z.strictObject({ png }), answer: nothing },
  /** Null when the user changed their mind. */
  'charts.save': {
    input: z.strictObject({ format: z.enum(['png', 'svg', 'csv']), figure, png }),
    answer: z.object({ file: z.string().nullable() }),
  },
};
