// The systems of the write-ups, in tables.

import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Size } from '../../config/presets.ts';
import { breakdowns, SOURCES_HEADER, sourcesRow } from '../../study/sources-page.ts';
import { loadSystems, type MeasuredSystem, measureSystem } from '../../study/sources.ts';
import type { Handlers } from '../definition.ts';
import type { Lab } from '../lab.ts';

const table = z.object({ title: z.string(), header: z.array(z.string()), rows: z.array(z.array(z.string())) });

export const calls = {
  /** The systems of the write-ups: expected, measured then, measured here by the runs of this data folder. */
  'sources.table': {
    input: z.strictObject({ size: z.enum(['quick', 'small', 'medium', 'full']) }),
    answer: z.object({ tables: z.array(table) }),
  },
};

const SOURCE_SEEDS = [1, 2, 3];

/** Reads the episodes of up to two dozen runs: between two systems others get their turn. */
async function sourceTables(lab: Lab, size: Size): Promise<{ tables: { title: string; header: string[]; rows: string[][] }[] }> {
  const measured: MeasuredSystem[] = [];
  for (const system of loadSystems()) {
    await setImmediate();
    measured.push(measureSystem(lab.store, system, { size, seeds: SOURCE_SEEDS }));
  }
  const parts = measured.flatMap((one) =>
    breakdowns(lab.catalog, one).map((part) => ({ ...part, title: `${one.system.title}: ${part.title}` })),
  );
  const all = [{ title: 'The systems of the write-ups', header: SOURCES_HEADER, rows: measured.map(sourcesRow) }, ...parts];
  return { tables: all.map(({ title, header, rows }) => ({ title, header: [...header], rows: rows.map((row) => [...row]) })) };
}

export function handlers(lab: Lab): Handlers<typeof calls> {
  return { 'sources.table': ({ size }) => sourceTables(lab, size) };
}
