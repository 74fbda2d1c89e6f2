// Collects the numbers of one update. One without a glossary entry (of a plug-in, say) is kept, and named so that the run can warn
// of it. What a rollout looks like (success, lengths, valid and effective actions, spread inside groups) is measured here, the same for every algorithm.

import { groupBy } from '../algorithm/advantage.ts';
import { deviation, mean, passAtK } from '../base/statistics.ts';
import { agentTokenCount, type Trajectory } from '../rollout/trajectory.ts';

export class Recorder {
  #values: Record<string, number> = {};
  readonly #unknown = new Set<string>();
  readonly #told = new Set<string>();
  readonly #glossary: ReadonlyMap<string, unknown>;

  constructor(glossary: ReadonlyMap<string, unknown>) {
    this.#glossary = glossary;
  }

  /** Notes numbers; a name noted twice in one update keeps its latest value. */
  record(values: Readonly<Record<string, number>>): void {
    for (const [id, value] of Object.entries(values)) {
      this.#check(id);
      this.#values[id] = value;
    }
  }

  /** Adds to a number that comes in parts (micro-batches, timings). */
  add(id: string, value: number): void {
    this.#check(id);
    this.#values[id] = (this.#values[id] ?? 0) + value;
  }

  /** Times `work` and adds its seconds to a time metric. */
  async time<T>(id: string, work: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.add(id, (performance.now() - start) / 1000);
    }
  }

  /** Names without a glossary entry, each reported once. */
  takeUnknown(): string[] {
    const fresh = [...this.#unknown].filter((id) => !this.#told.has(id));
    for (const id of fresh) this.#told.add(id);
    return fresh;
  }

  #check(id: string): void {
    if (!this.#glossary.has(id)) this.#unknown.add(id);
  }

  /** The update's numbers; the recorder is empty again afterwards. */
  take(): Readonly<Record<string, number>> {
    const values = this.#values;
    this.#values = {};
    return values;
  }
}

/** What the episodes of an update look like, for every algorithm alike. */
export function rolloutMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const steps = trajectories.flatMap((trajectory) => trajectory.steps);
  const returns = trajectories.map((trajectory) => trajectory.return);
  const entropies = steps.flatMap((step) => [...step.tokens.entropies]);
  const groups = groupBy(trajectories.map((trajectory) => trajectory.task)).filter((members) => members.length > 1);
  const share = (count: number, of: number) => (of === 0 ? 0 : count / of);
  return {
    'rollout.success': share(trajectories.filter((trajectory) => trajectory.success).length, trajectories.length),
    'rollout.return': mean(returns),
    'rollout.return.std': deviation(returns),
    'rollout.steps': share(steps.length, trajectories.length),
    'rollout.tokens': mean(trajectories.map(agentTokenCount)),
    'rollout.valid': share(steps.filter((step) => step.valid).length, steps.length),
    'rollout.effective': share(sum(trajectories.map(effectiveActions)), steps.length),
    'rollout.repeated': share(sum(trajectories.map(repeatedActions)), steps.length),
    'rollout.entropy': mean(entropies),
    ...(groups.length > 0 && {
      'rollout.groupSpread': mean(groups.map((members) => deviation(members.map((i) => returns[i]!)))),
      'rollout.passAtK': passAtSmallest(groups.map((members) => members.map((i) => trajectories[i]!.success))),
    }),
  };
}

/** Unbiased pass@k with k the size of the smallest group, so that groups of different sizes count alike. */
function passAtSmallest(groups: readonly (readonly boolean[])[]): number {
  const k = Math.min(...groups.map((group) => group.length));
  return mean(groups.map((group) => passAtK(group.length, group.filter(Boolean).length, k)));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Actions after which the agent saw something else. */
function effectiveActions(trajectory: Trajectory): number {
  const seen = [...trajectory.steps.map((step) => step.observation), trajectory.finalObservation];
  return trajectory.steps.filter((_, i) => seen[i + 1] !== seen[i]).length;
}

function repeatedActions(trajectory: Trajectory): number {
  const said = trajectory.steps.map((step) => step.action);
  return said.length - new Set(said).size;
}
