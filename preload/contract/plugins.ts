// Calls about worlds and other plug-ins from the user's folders: the list, adding a folder, allowing it to run, removing it.

import { z } from 'zod';
import { nothing } from './definition.ts';

const plugin = z.object({
  folder: z.string(),
  name: z.string(),
  origin: z.enum(['added', 'data folder', 'command line']),
  allowed: z.boolean(),
  worlds: z.array(z.string()),
  algorithms: z.array(z.string()),
  /** What would be run: the commands of its worlds, or its TypeScript. */
  runs: z.array(z.string()),
  problem: z.string().nullable(),
});
export type PluginRow = z.infer<typeof plugin>;

const list = z.object({ plugins: z.array(plugin), missing: z.array(z.string()) });
const folder = z.strictObject({ folder: z.string().trim().min(1).max(4000) });

export const pluginCalls = {
  'plugins.list': { input: nothing, answer: list },
  /** Asks for a folder in the system's dialog; null when the user changed their mind. */
  'plugins.choose': { input: nothing, answer: z.object({ folder: z.string().nullable() }) },
  'plugins.add': { input: folder, answer: list },
  /** Asks the user in a dialog of the system, which the page cannot answer, whether the folder's code may run. */
  'plugins.allow': { input: folder, answer: list },
  'plugins.remove': { input: folder, answer: list },
};
