// Calls and events about data that users bring to worlds: where their copy is, importing it, stopping that.

import { z } from 'zod';
import { nothing } from './definition.ts';

const imported = z.object({
  folder: z.string(),
  /** What it holds; the first is the size of the data. */
  counts: z.array(z.object({ label: z.string(), count: z.number() })),
  /** Where the index is, and its size. */
  index: z.string(),
  indexBytes: z.number(),
  /** Records that were left out. */
  skipped: z.number(),
  seconds: z.number(),
});

const worldData = z.object({
  world: z.string(),
  title: z.string(),
  about: z.string(),
  /** The folder holds one of these. */
  files: z.array(z.string()),
  placeholder: z.string(),
  /** The world's setting that names the folder, and the settings that have no effect without it. */
  setting: z.string(),
  onlyWith: z.array(z.string()),
  imported: imported.nullable(),
  /** An import under way: `share` from 0 to 1, and the seconds left once they can be estimated. */
  importing: z.object({ folder: z.string(), share: z.number(), what: z.string(), secondsLeft: z.number().nullable() }).nullable(),
});
export type WorldData = z.infer<typeof worldData>;

const list = z.object({ worlds: z.array(worldData) });
const which = z.strictObject({ world: z.string().max(60) });

export const worldDataCalls = {
  /** Every world that takes data, with the state of its import. */
  'worlds.data': { input: nothing, answer: list },
  /** Asks for a folder in the system's dialog; null when the user changed their mind. */
  'worlds.chooseData': { input: which, answer: z.object({ folder: z.string().nullable() }) },
  /** Checks and indexes a folder; answers when it is done. */
  'worlds.importData': { input: which.extend({ folder: z.string().trim().min(1).max(4000) }), answer: list },
  'worlds.cancelImport': { input: which, answer: nothing },
  /** The lab no longer offers the data. Nothing is deleted. */
  'worlds.forgetData': { input: which, answer: list },
};

export const worldDataEvents = { 'worlds.dataChanged': list };
