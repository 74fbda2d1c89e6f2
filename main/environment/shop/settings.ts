// What a user can set about the shop; the defaults are the shop that the flagship learns in.

import { z } from 'zod';
import type { Plain } from '../environment.ts';
import { REWARDS, REWARD_NAMES } from './rewards.ts';

/** Our guess at words that the earliest system could search for (it had eighteen); with `searchTerms: eighteen` there are no others. */
export const EIGHTEEN_TERMS =
  'backpack black blanket blue boots bottle headphones jacket lamp loafers mug novel red running shirt shoes wallet watch'.split(' ');

/** Eighteen words that show the most: searches of one or two of them list 49 of the products 1–100 when ids are spread, each chosen for what it adds. */
export const COVERING_TERMS =
  'advanced black blue ceramic compact dumbbells foldable illustrated mouse pocket premium simple skirt slim slippers vintage white wooden'.split(
    ' ',
  );

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
      'Highest product id that can be clicked or bought; 0 = all. 100 reproduces the limit that made 80% of the products unreachable in an earlier system.',
    ),
  searchTerms: z
    .enum(['all', 'eighteen', 'covering'])
    .default('all')
    .describe(
      `Words that may be searched for: all, or only eighteen. An earlier system had eighteen; which ones was not published, these are ours (${EIGHTEEN_TERMS.join(', ')}). covering: eighteen that show as many of the products 1–100 as eighteen words can with ids=spread (49; ${COVERING_TERMS.join(', ')}).`,
    ),
  products: z
    .int()
    .min(0)
    .max(20_000)
    .refine((count) => count === 0 || count >= 10, 'expected 0 (all) or at least 10')
    .default(0)
    .describe('Products on the shelves, spread over categories and names (10–497 of the built-in catalog); 0 = all.'),
  ids: z
    .enum(['catalog', 'spread'])
    .default('catalog')
    .describe(
      'How products are numbered. catalog: by category. spread: the categories take turns, and of the tasks for products beyond maxReachableId only as many are kept as make a fifth of all, as in the slides.',
    ),
  tasks: z
    .enum(['short', 'long', 'all', 'baskets'])
    .default('short')
    .describe(
      'Which tasks there are. short: one product each. long: two or three products that only differ on their item pages, about 12 well-chosen steps; take maxSteps=20 and resultsShown=8. all: both. baskets: things by where they are made, as many as basket says; a level for each number of things.',
    ),
  basket: z
    .int()
    .min(1)
    .max(5)
    .default(3)
    .describe('Things of a basket (1–5; only for tasks=baskets). The curriculum goes up to it from one thing, on the same shelves.'),
  restock: z
    .boolean()
    .default(false)
    .describe(
      'Where products are made is drawn anew for every basket, and any of a kind but the first on the shelf may be wanted (only for tasks=baskets): nothing about a product can be remembered, only reading its page helps.',
    ),
  thoughts: z
    .enum(['brief', 'worked', 'copied'])
    .default('brief')
    .describe(
      'What demonstrators think before they buy (short tasks). brief: what they buy and why. worked: first the comparison, product by product, then what follows, so that a policy with thoughts learns to work it out. copied: each product’s line as the page shows it, then on which side of the limit it is or whether its section is the one asked for.',
    ),
  catalog: z
    .string()
    .default('')
    .describe('Path of your catalog file, in the form of resources/shop/catalog.json; empty = the built-in one.'),
});

export type ShopSettings = z.infer<typeof shopSettings>;

/** The settings as cache keys spell them. Some are left out at their defaults: they were added when there were caches already. */
export function identityOf({ products, ids, tasks, basket, restock, thoughts, ...settings }: ShopSettings): Plain {
  return {
    ...settings,
    ...(products !== 0 && { products }),
    ...(ids !== 'catalog' && { ids }),
    ...(tasks !== 'short' && { tasks }),
    ...(tasks === 'baskets' && { basket }),
    ...(tasks === 'baskets' && restock && { restock }),
    ...(thoughts !== 'brief' && { thoughts }),
  };
}
