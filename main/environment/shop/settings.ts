// What a user can set about the shop; the defaults are the shop that the flagship learns in.

import { z } from 'zod';
import { REWARDS, REWARD_NAMES } from './rewards.ts';

/** The words that the earliest system could search for; with `searchTerms: eighteen` there are no others. */
export const EIGHTEEN_TERMS =
  'backpack black blanket blue boots bottle headphones jacket lamp loafers mug novel red running shirt shoes wallet watch'.split(' ');

export const shopSettings = z.strictObject({
  reward: z
    .enum(REWARD_NAMES)
    .default('binary')
    .describe(`What is paid for. ${REWARD_NAMES.map((name) => `${name}: ${REWARDS[name].source}`).join(' ')}`),
  decayAfter: z
    .int()
    .min(1)
    .max(15)
    .default(3)
    .describe('Searches until the search reward has become a penalty (1–15; only for the reward "decaying").'),
  maxSteps: z.int().min(1).max(100).default(15).describe('Steps after which an episode without a purchase ends (1–100).'),
  resultsShown: z.int().min(1).max(20).default(5).describe('Results that a search shows (1–20).'),
  maxReachableId: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'Highest product id that can be clicked or bought; 0 = all. 100 reproduces the limit that made 80% of the products impossible in an earlier system.',
    ),
  searchTerms: z
    .enum(['all', 'eighteen'])
    .default('all')
    .describe(`Words that may be searched for: all, or only the eighteen of an earlier system (${EIGHTEEN_TERMS.join(', ')}).`),
  catalog: z
    .string()
    .default('')
    .describe('Path of a catalog file of your own in the form of resources/shop/catalog.json; empty = the built-in one.'),
});

export type ShopSettings = z.infer<typeof shopSettings>;
