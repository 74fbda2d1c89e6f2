// Calls that take runs out of the lab as a file and into it.

import { z } from 'zod';

const run = z.int().min(1);

export const transferCalls = {
  /** Asks where; null when the user changed their mind. */
  'runs.export': {
    input: z.strictObject({ runs: z.array(run).min(1).max(10_000), checkpoints: z.boolean() }),
    answer: z.object({ file: z.string().nullable(), bytes: z.number() }),
  },
  /** A file that was dropped or opened; null asks for one. No runs when the user changed their mind. */
  'runs.import': {
    input: z.strictObject({ file: z.string().max(4000).nullable() }),
    answer: z.object({ runs: z.array(run), study: z.int().nullable() }),
  },
};

export const transferEvents = {
  'runs.transferProgress': z.object({ done: z.number(), total: z.number() }),
};
