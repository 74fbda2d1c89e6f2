// What a user can set about this world, with defaults that work without any data folder.

import { z } from 'zod';

export const webshopSettings = z.strictObject({
  dataFolder: z
    .string()
    .default('')
    .describe('The `data` folder of the original WebShop (small or full set). Empty: the catalog that comes with the lab.'),
  set: z
    .enum(['auto', 'small', 'full'])
    .default('auto')
    .describe('Which of the original sets to take from the folder. `auto`: the small one if it is there, else the full one.'),
  goals: z
    .enum(['synthetic', 'human'])
    .default('synthetic')
    .describe(
      '`synthetic`: one goal for each combination of options. `human`: goals written by people, from items_human_ins.json in the folder.',
    ),
  split: z
    .enum(['official', 'products'])
    .default('official')
    .describe(
      '`official`: goals 0–499 test, 500–1499 validation, the rest training, as published. `products`: no product of a test goal occurs in training.',
    ),
  maxSteps: z.int().min(1).max(100).default(15).describe('An episode ends after this many actions (1–100).'),
  seed: z.int().min(0).default(1).describe('Price limits, and prices that the shop gives as a range, are drawn from this seed.'),
  queryWords: z
    .int()
    .min(1)
    .max(1000)
    .default(64)
    .describe('The most words that a policy may put into one search (1–1000). Typed searches are not limited.'),
  view: z
    .enum(['page', 'words', 'marks'])
    .default('page')
    .describe(
      'What a policy reads. `page`: the whole page. `words`: a short form with the wish, the first words of each title and marks of what matches. `marks`: the marks alone, so that no product can be recognised.',
    ),
  trainingGoals: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(20_000)
    .describe('At most this many training tasks, the first ones in the original order; the full set would give millions.'),
});

export type WebShopSettings = z.infer<typeof webshopSettings>;
