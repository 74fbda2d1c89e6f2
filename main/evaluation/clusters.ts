// Which tasks of an evaluation belong together. The world says it (tasks about one product succeed and fail together); a world that
// says nothing, or is no longer installed, has clusters of one task.

import { z } from 'zod';
import { canonicalJson } from '../base/canonical.ts';
import { completeConfig } from '../config/config.ts';
import { WORLDS } from '../environment/registry.ts';
import type { EvaluationResult } from './evaluation-report.ts';

export type ClusteredResult = EvaluationResult & { readonly cluster: string };

type Key = (task: { readonly id: string; readonly tier: string }) => string;

const rawWorld = z.looseObject({ world: z.json() });
const worldPart = z.looseObject({ world: z.object({ name: z.string(), settings: z.unknown() }) });

/** Remembers the keys of the worlds that it met: opening one may take a second. */
export class TaskClusters {
  readonly #keys = new Map<string, Key>();
  /** By the world as it is stored, because completing a config takes a while. */
  readonly #stored = new Map<string, Key>();

  /** Adds to the results of a run with this config the cluster of each: in place, for there may be tens of thousands. */
  mark<T extends EvaluationResult>(config: unknown, results: readonly T[]): (T & ClusteredResult)[] {
    if (results.length === 0) return [];
    const key = this.#keyOf(config);
    return results.map((result) => Object.assign(result, { cluster: key({ id: result.task, tier: result.tier }) }));
  }

  #keyOf(config: unknown): Key {
    const raw = rawWorld.safeParse(config).data?.world;
    const stored = canonicalJson([raw ?? null]);
    let key = this.#stored.get(stored);
    if (!key) this.#stored.set(stored, (key = this.#completeKeyOf(config)));
    return key;
  }

  #completeKeyOf(config: unknown): Key {
    const parsed = worldPart.safeParse(completeConfig(config));
    const { name, settings } = parsed.success ? parsed.data.world : { name: '', settings: {} };
    const which = canonicalJson([name, settings]);
    let key = this.#keys.get(which);
    if (!key) {
      key = WORLDS.find((world) => world.name === name)?.clusters?.(settings) ?? (({ id }) => id);
      this.#keys.set(which, key);
    }
    return key;
  }
}
