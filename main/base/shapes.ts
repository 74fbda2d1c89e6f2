// Schemas that several records share, the window too.

import { z } from 'zod';
import { purposes } from './vocabulary.ts';

/** A number that may be NaN or infinite: a diverged run has such points, and they are shown as gaps. */
export const anyNumber = z.union([z.number(), z.nan(), z.literal(Number.POSITIVE_INFINITY), z.literal(Number.NEGATIVE_INFINITY)]);

/** k successes of n with the Wilson 95% interval. */
export const proportion = z.object({ k: z.number(), n: z.number(), rate: anyNumber, low: anyNumber, high: anyNumber });
export type Proportion = z.infer<typeof proportion>;

/** Which episodes of a run a list shows. */
export const episodeFilter = z.strictObject({
  purpose: z.enum(purposes).optional(),
  fromUpdate: z.int().min(0).optional(),
  toUpdate: z.int().min(0).optional(),
  success: z.boolean().optional(),
  category: z.string().max(200).optional(),
  tier: z.string().max(200).optional(),
  failure: z.string().max(200).optional(),
  task: z.string().max(400).optional(),
  text: z.string().max(400).optional(),
  /** With `text`: also in observations and thoughts. */
  deep: z.boolean().optional(),
  starred: z.boolean().optional(),
});
