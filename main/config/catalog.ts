// What a run can be made of: worlds, algorithms, presets and what belongs to them. A value that is passed to whoever needs it and never
// changes: plug-ins are loaded into a new one (main/plugin/load.ts).

import type { Algorithm } from '../algorithm/algorithm.ts';
import { builtInAlgorithms } from '../algorithm/registry.ts';
import { resourceFile } from '../base/paths.ts';
import type { Direction } from '../base/vocabulary.ts';
import type { World } from '../environment/environment.ts';
import { BUILT_IN_WORLDS } from '../environment/registry.ts';

/** A metric of a plug-in. */
export interface AddedMetric {
  readonly id: string;
  readonly name: string;
  readonly formula: string;
  readonly unit: string;
  readonly direction: Direction;
}

/** What `lab tune` may change of an algorithm. */
export interface SearchKnob {
  readonly key: string;
  readonly low: number;
  readonly high: number;
  readonly scale: 'log' | 'linear';
}

/** A folder that a user brought. */
export interface Plugin {
  readonly folder: string;
  readonly name: string;
  /** `added` by the user, found in the data folder, or named by `--plugin` for this command alone. */
  readonly origin: 'added' | 'data folder' | 'command line';
  /** The user has allowed its code to run. */
  readonly allowed: boolean;
  /** Of all its files: part of the identity of every run that uses it. */
  readonly hash: string;
  readonly worlds: readonly string[];
  readonly algorithms: readonly string[];
  /** Why it was not loaded; null when it was. */
  readonly problem: string | null;
}

export interface Catalog {
  readonly worlds: readonly World[];
  readonly algorithms: readonly Algorithm[];
  /** Beside those of the glossary. */
  readonly metrics: readonly AddedMetric[];
  /** Folders with JSON files; of two with one name, the first counts. */
  readonly presets: readonly string[];
  readonly studies: readonly string[];
  /** By algorithm, for those that plug-ins name. */
  readonly searchSpaces: Readonly<Record<string, readonly SearchKnob[]>>;
  readonly plugins: readonly Plugin[];
}

export const BUILT_IN: Catalog = {
  worlds: BUILT_IN_WORLDS,
  algorithms: builtInAlgorithms,
  metrics: [],
  presets: [resourceFile('presets')],
  studies: [resourceFile('studies')],
  searchSpaces: {},
  plugins: [],
};

/** The plug-ins that a config uses, by name, with the hash of their code; undefined where it uses none. */
export function pluginsOf(
  { plugins }: Catalog,
  config: { readonly world: { readonly name: string }; readonly algorithm: { readonly id: string } },
): Record<string, string> | undefined {
  const used = plugins.filter(({ worlds, algorithms: ids }) => worlds.includes(config.world.name) || ids.includes(config.algorithm.id));
  return used.length === 0 ? undefined : Object.fromEntries(used.map(({ name, hash }) => [name, hash]));
}

/** Why a run that was made with these plug-ins cannot continue with those of today; null when it can. */
export function pluginChange({ plugins }: Catalog, wanted: Readonly<Record<string, string>> | undefined): string | null {
  for (const [name, hash] of Object.entries(wanted ?? {})) {
    const found = plugins.find((plugin) => plugin.name === name);
    if (!found)
      return `The run was made with the plug-in “${name}”, which is not there any more. Add its folder again; until then the run can only be looked at.`;
    if (found.hash !== hash) {
      return `The code of the plug-in “${name}” has changed since the run began (${hash} then, ${found.hash} now), so it cannot be resumed with the same numbers. Put the old code back, or start a new run.`;
    }
  }
  return null;
}
