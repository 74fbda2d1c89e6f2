// `lab plugin check`: loads a folder by itself and runs every check that fits what it holds.

import { algorithms, builtInAlgorithms } from '../algorithm/registry.ts';
import { loadPreset, presetIds } from '../config/presets.ts';
import { BUILT_IN_WORLDS, WORLDS } from '../environment/registry.ts';
import { checkAlgorithm } from './check-algorithm.ts';
import { attempt, type CheckResult, checkWorld } from './check-world.ts';
import { loadPlugins, pluginChecks } from './load.ts';
import { nameFolders } from './permissions.ts';

/** Runs the code of the folder: whoever asks for a check allows it. */
export async function checkPlugin(folder: string, progress: (text: string) => void): Promise<CheckResult[]> {
  nameFolders([folder]);
  const before = presetIds();
  const [plugin] = await loadPlugins(`${folder}/.nothing`);
  if (!plugin) return [{ name: 'loads', problem: `${folder} is not a folder` }];
  const results: CheckResult[] = [{ name: 'loads', problem: plugin.problem }];
  for (const world of WORLDS.slice(BUILT_IN_WORLDS.length)) {
    progress(`Playing ${world.name} …`);
    results.push(...(await checkWorld(world)));
  }
  for (const algorithm of algorithms.slice(builtInAlgorithms.length)) {
    progress(`Running the loss of ${algorithm.id} …`);
    results.push(...(await checkAlgorithm(algorithm)));
  }
  for (const id of presetIds().filter((known) => !before.includes(known))) {
    results.push(await attempt(`preset ${id}: fits the schema of a run`, () => void loadPreset(id)));
  }
  for (const [name, check] of Object.entries(pluginChecks())) results.push(await attempt(name, async () => void (await check())));
  return results;
}
