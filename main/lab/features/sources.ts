// The systems of the write-ups, in tables.

import { z } from 'zod';
import { breakdowns, SOURCES_HEADER, sourcesRow } from '../../study/sources-page.ts';
import { loadSystems, measureSystem } from '../../study/sources.ts';
import type { Handlers, Reads } from '../definition.ts';

const table = z.object({ title: z.string(), header: z.array(z.string()), rows: z.array(z.array(z.string())) });

export const calls = {
  /** The systems of the write-ups: expected, measured then, measured here by the runs of this data folder. */
  'sources.table': {
    input: z.strictObject({ size: z.enum(['quick', 'small', 'medium', 'full']) }),
    answer: z.object({ tables: z.array(table) }),
  },
};

const SOURCE_SEEDS = [1, 2, 3];

/** Reads the episodes of up to two dozen runs. */
export const reads = {
  'sources.table': (store, { size }) => {
    const measured = loadSystems().map((system) => measureSystem(store, system, { size, seeds: SOURCE_SEEDS }));
    const parts = measured.flatMap((one) =>
      breakdowns(store.catalog, one).map((part) => ({ ...part, title: `${one.system.title}: ${part.title}` })),
    );
    const all = [{ title: 'The systems of the write-ups', header: SOURCES_HEADER, rows: measured.map(sourcesRow) }, ...parts];
    return { tables: all.map(({ title, header, rows }) => ({ title, header: [...header], rows: rows.map((row) => [...row]) })) };
  },
} satisfies Reads<typeof calls>;

export const handlers = (): Handlers<Omit<typeof calls, keyof typeof reads>> => ({});
