// Which tasks of an evaluation belong together. The world says it (tasks about one product succeed and fail together); a world that
// says nothing, or is no longer installed, has clusters of one task.

import { z } from 'zod';
import { canonicalJson } from '../canonical.ts';
import { completeConfig } from '../config/config.ts';
import { WORLDS } from '../environment/registry.ts';
import type { EvaluationResult } from '../evaluation/evaluation-report.ts';

export type ClusteredResult = EvaluationResult & { readonly cluster: string };

type Key = (task: { readonly id: string; readonly tier: string }) => string;

const worldPart = z.looseObject({ world: z.object({ name: z.string(), settings: z.unknown() }) });

/** Remembers the keys of the worlds that it met: opening one may take a second. */
export class TaskClusters {
  readonly #keys = new Map<string, Key>();

  /** The results of a run with this config, each with its cluster. */
  mark(config: unknown, results: readonly EvaluationResult[]): ClusteredResult[] {
    if (results.length === 0) return [];
    const key = this.#keyOf(config);
    return results.map((result) => ({ ...result, cluster: key({ id: result.task, tier: result.tier }) }));
  }

  #keyOf(config: unknown): Key {
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
