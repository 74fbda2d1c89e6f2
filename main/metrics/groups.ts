// The spread of rewards inside a group and pass@k, for algorithms that play a task once an update: the group of a task is its
// latest four episodes. It lags behind by as many visits, and it is what such an algorithm has. Saved with the checkpoint.

import { z } from 'zod';
import { deviation, mean } from '../base/statistics.ts';
import type { Trajectory } from '../rollout/trajectory.ts';

const SIZE = 4;

/** By task: [return, 1 for success] of its latest episodes, oldest first. */
export const GroupMemory = z.record(z.string(), z.array(z.tuple([z.number(), z.number()])));
export type GroupMemory = z.infer<typeof GroupMemory>;

export class TaskGroups {
  readonly #episodes: Map<string, [number, number][]>;

  constructor(memory: GroupMemory = {}) {
    this.#episodes = new Map(Object.entries(memory));
  }

  /** Takes the episodes of an update in and measures the groups of its tasks; nothing where no task has been met often enough. */
  metrics(trajectories: readonly Trajectory[]): Record<string, number> {
    for (const { task, return: earned, success } of trajectories) {
      this.#episodes.set(task, [...(this.#episodes.get(task) ?? []), [earned, success ? 1 : 0] as [number, number]].slice(-SIZE));
    }
    const tasks = new Set(trajectories.map(({ task }) => task));
    const full = [...tasks].map((task) => this.#episodes.get(task) ?? []).filter(({ length }) => length === SIZE);
    if (full.length === 0) return {};
    return {
      'rollout.groupSpread': mean(full.map((group) => deviation(group.map(([earned]) => earned)))),
      'rollout.passAtK': mean(full.map((group) => Math.max(...group.map(([, success]) => success)))),
    };
  }

  save(): GroupMemory {
    return Object.fromEntries(this.#episodes);
  }
}
