// `lab plugin check`: loads a folder by itself and runs every check that fits what it holds.

import { BUILT_IN, type Catalog } from '../config/catalog.ts';
import { loadPreset, presetIds } from '../config/presets.ts';
import { checkAlgorithm } from './check-algorithm.ts';
import { attempt, type CheckResult, checkWorld } from './check-world.ts';
import { extended, loadPlugin } from './load.ts';
import { nameFolders } from './permissions.ts';

/** Runs the code of the folder: whoever asks for a check allows it. Also answers the catalog with it. */
export async function checkPlugin(folder: string, progress: (text: string) => void): Promise<{ results: CheckResult[]; catalog: Catalog }> {
  nameFolders([folder]); // the processes that it starts may load it, too
  const { plugin, parts } = await loadPlugin(BUILT_IN, { folder, allowed: true, origin: 'command line' });
  const catalog = extended(BUILT_IN, plugin, parts);
  const results: CheckResult[] = [{ name: 'loads', problem: plugin.problem }];
  for (const world of parts.worlds) {
    progress(`Playing ${world.name} …`);
    results.push(...(await checkWorld(world)));
  }
  for (const algorithm of parts.algorithms) {
    progress(`Running the loss of ${algorithm.id} …`);
    results.push(...(await checkAlgorithm(algorithm)));
  }
  const builtIn = presetIds(BUILT_IN);
  for (const id of presetIds(catalog).filter((found) => !builtIn.includes(found)))
    results.push(await attempt(`preset ${id}: fits the schema of a run`, () => void loadPreset(catalog, id)));
  for (const [name, check] of Object.entries(parts.checks)) results.push(await attempt(name, async () => void (await check())));
  return { results, catalog };
}
