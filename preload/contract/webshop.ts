// Calls and events about the original WebShop data: where the user's copy is, importing it, stopping that.

import { z } from 'zod';
import { nothing } from './definition.ts';

const imported = z.object({
  folder: z.string(),
  products: z.number(),
  goals: z.number(),
  /** Where the index is, and its size. */
  index: z.string(),
  indexBytes: z.number(),
  /** Records that were left out, as the original does. */
  notes: z.number(),
  seconds: z.number(),
});

const webshopState = z.object({
  imported: imported.nullable(),
  /** An import under way: `share` from 0 to 1, and the seconds left once they can be told. */
  importing: z.object({ folder: z.string(), share: z.number(), what: z.string(), secondsLeft: z.number().nullable() }).nullable(),
});
export type WebshopState = z.infer<typeof webshopState>;

export const webshopCalls = {
  'webshop.state': { input: nothing, answer: webshopState },
  /** Asks for a folder in the system's dialog; null when the user changed their mind. */
  'webshop.choose': { input: nothing, answer: z.object({ folder: z.string().nullable() }) },
  /** Checks and indexes a folder; answers when it is done. */
  'webshop.import': { input: z.strictObject({ folder: z.string().trim().min(1).max(4000) }), answer: webshopState },
  'webshop.cancel': { input: nothing, answer: nothing },
  /** The lab no longer offers the data. Nothing is deleted. */
  'webshop.forget': { input: nothing, answer: webshopState },
};

export const webshopEvents = { 'webshop.changed': webshopState };
