// Which tasks of an evaluation belong together. The world says it (tasks about one product succeed and fail together); a world that
// says nothing, or is no longer installed, has clusters of one task.

import { canonicalJson } from '../base/canonical.ts';
import type { RunConfig } from '../config/config.ts';
import type { Worlds } from '../environment/registry.ts';
import type { EvaluationResult } from './evaluation-report.ts';

export type ClusteredResult = EvaluationResult & { readonly cluster: string };

type Key = (task: { readonly id: string; readonly tier: string }) => string;

/** Remembers the keys of the worlds that it met: opening one may take a second. */
export class TaskClusters {
  readonly #catalog: Worlds;
  readonly #keys = new Map<string, Key>();

  constructor(catalog: Worlds) {
    this.#catalog = catalog;
  }

  /** Adds to the results of a run with this config the cluster of each: in place, for there may be tens of thousands. */
  mark<T extends EvaluationResult>({ world }: Pick<RunConfig, 'world'>, results: readonly T[]): (T & ClusteredResult)[] {
    if (results.length === 0) return [];
    const key = this.#keyOf(world);
    return results.map((result) => Object.assign(result, { cluster: key({ id: result.task, tier: result.tier }) }));
  }

  #keyOf({ name, settings }: RunConfig['world']): Key {
    const which = canonicalJson([name, settings]);
    let key = this.#keys.get(which);
    if (!key) {
      key = this.#catalog.worlds.find((world) => world.name === name)?.clusters?.(settings) ?? (({ id }) => id);
      this.#keys.set(which, key);
    }
    return key;
  }
}
