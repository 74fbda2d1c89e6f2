// How fast a kind of run is. Measured here by a probe or by earlier runs (estimate.ts); and for the presets, once, with one thread on
// another machine: resources/preset-speeds.json, written by `npm run bench -- presets`, so that a new lab can name a time at all.

import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { contentHash } from '../base/canonical.ts';
import { type RunConfig } from '../config/config.ts';
import { unpricedPolicy } from '../config/identity.ts';
import { resourceFile } from '../base/paths.ts';

/** What one measurement says of a kind of run. */
export const measurement = z.object({
  secondsPerEpisode: z.number(),
  /** Of an update, by episode: playing, scoring, learning. */
  secondsPerUpdateEpisode: z.number(),
  /** Null when the reference was found ready. */
  secondsPerCloningStep: z.number().nullable(),
  memoryBytes: z.number(),
  stepsPerEpisode: z.number(),
});
export type Measurement = z.infer<typeof measurement>;

export const shippedSpeeds = z.object({
  /** The processor. */
  machine: z.string(),
  speeds: z.record(z.string(), measurement.extend({ preset: z.string() })),
});

export const speedsFile = (): string => resourceFile('preset-speeds.json');

/** What decides the speed of a run, machine and threads apart. */
export function speedKey({ world, policy, algorithm }: Pick<RunConfig, 'world' | 'policy' | 'algorithm'>): string {
  return contentHash({ world: world.name, policy: unpricedPolicy(policy), algorithm: algorithm.id }).slice(0, 16);
}

type ShippedSpeeds = z.infer<typeof shippedSpeeds>;

let shipped: ShippedSpeeds | undefined;

/** What came with this version of the lab; nothing where it was not measured. */
export function readShippedSpeeds(): ShippedSpeeds {
  shipped ??= existsSync(speedsFile()) ? shippedSpeeds.parse(JSON.parse(readFileSync(speedsFile(), 'utf8'))) : { machine: '', speeds: {} };
  return shipped;
}

/** Undefined for a run that is like no preset. */
export function shippedSpeed({ speeds }: ShippedSpeeds, config: RunConfig): Measurement | undefined {
  return config.device === 'cpu' ? speeds[speedKey(config)] : undefined;
}
