// Calls of the Settings page: what the data folder holds, the devices and their self-test, and what the user prefers for
// all runs.

import { z } from 'zod';
import { retentions } from '../../main/base/vocabulary.ts';
import { nothing } from './definition.ts';

const part = z.object({
  name: z.string(),
  /** What is in it, in words. */
  what: z.string(),
  path: z.string(),
  bytes: z.number(),
});
export type StoragePart = z.infer<typeof part>;

export const damage = z.object({ kind: z.string(), run: z.number().nullable(), where: z.string(), problem: z.string() });

const trace = z.object({ losses: z.array(z.number()), norms: z.array(z.number()) });

const device = z.object({
  /** What a run's `device` setting takes. */
  id: z.string(),
  name: z.string(),
  memory: z.number().nullable(),
  ok: z.boolean(),
  reason: z.string(),
  /** Losses and gradient norms of the same small training on the CPU and on the device. */
  check: z.object({ cpu: trace, device: trace, seconds: z.number() }).nullable(),
});
export type DeviceState = z.infer<typeof device>;

const devices = z.object({ devices: z.array(device), testedAt: z.number() });

/** At most this many runs train at the same time. */
export const MOST_CONCURRENT = 16;

export const preferences = z.object({
  concurrent: z.int().min(1).max(MOST_CONCURRENT),
  /** Which episodes new runs keep; null: as their preset says. */
  retention: z.enum(retentions).nullable(),
});
export type Preferences = z.infer<typeof preferences>;

export const settingsCalls = {
  'storage.use': {
    input: nothing,
    answer: z.object({ folder: z.string(), free: z.number(), parts: z.array(part), trash: z.number() }),
  },
  /** Looks for damage in database, checkpoints and episodes; reads everything, so it may take a while. */
  'storage.check': { input: nothing, answer: z.object({ damaged: z.array(damage) }) },
  /** Deletes the runs in the trash for good. */
  'storage.emptyTrash': { input: nothing, answer: z.object({ runs: z.number() }) },
  /** The last self-test's result; tests now when there is none, or when asked to. */
  'devices.list': { input: z.strictObject({ again: z.boolean() }), answer: devices },
  'preferences.read': { input: nothing, answer: preferences.extend({ threads: z.number() }) },
  'preferences.change': { input: preferences, answer: preferences.extend({ threads: z.number() }) },
};
