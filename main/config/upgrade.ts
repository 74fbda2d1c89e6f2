// From a config that any version of the lab wrote to today's `RunConfig`. The database's migration and the import of runs come here, and
// so do files that people write configs into; nothing else completes a stored config.

import { z } from 'zod';
import { hasAlgorithm } from '../algorithm/registry.ts';
import { DEFAULT_WORLD } from '../environment/registry.ts';
import type { Catalog } from './catalog.ts';
import { parseConfig, type RunConfig } from './config.ts';

const parts = z.looseObject({
  world: z.looseObject({ name: z.string().default(DEFAULT_WORLD) }).prefault({}),
  reference: z.looseObject({ imperfection: z.record(z.string(), z.unknown()).default({}) }).prefault({}),
});
const named = z.looseObject({ algorithm: z.looseObject({ id: z.string() }) });

/** A stored config as today's with the same meaning. Throws a ConfigError that says what does not fit. */
export function upgradeConfig(catalog: Catalog, stored: unknown): RunConfig {
  const parsed = named.safeParse(stored);
  if (!parsed.success || hasAlgorithm(catalog, parsed.data.algorithm.id)) return readConfig(catalog, stored);
  // The algorithm of a plug-in that is not there keeps its settings as they are.
  const { algorithm, ...rest } = parsed.data;
  return Object.assign(readConfig(catalog, rest), { algorithm });
}

/** A config out of a file that may be of an earlier version. */
export function readConfig(catalog: Catalog, input: unknown): RunConfig {
  const parsed = parts.safeParse(input);
  if (!parsed.success) return parseConfig(catalog, input);
  const { world, reference, ...rest } = parsed.data;
  const imperfection = renamed(catalog, world.name, reference.imperfection);
  return parseConfig(catalog, { ...rest, world, reference: { ...reference, imperfection } });
}

/** Version 0.1.0 had these in all worlds. */
const FIRST_MISTAKES = new Set(['wrongWord', 'earlyPurchase', 'uselessClick']);

/** Renamed mistakes get the names they have now; where a world has none of the first ones, they are left out. */
function renamed({ worlds }: Catalog, name: string, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const world = worlds.find((candidate) => candidate.name === name);
  if (!world) return { ...given };
  const now = new Map(Object.entries(world.mistakes).map(([mistake, { firstName }]) => [firstName ?? mistake, mistake]));
  const kept = Object.entries(given).flatMap(([mistake, chance]) => {
    const today = mistake in world.mistakes ? mistake : now.get(mistake);
    return today === undefined && FIRST_MISTAKES.has(mistake) ? [] : [[today ?? mistake, chance] as const];
  });
  return Object.fromEntries(kept);
}
