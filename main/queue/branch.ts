// Branching: a run that starts from a checkpoint of another one, with settings of its own. The policy's weights, and the optimizer's
// state where the parameters are the same, come from the checkpoint; the reference is the parent's, so world, policy and reference
// settings must stay. A branch counts its own updates from 0; `branch` in its config says where it came from.

import { type BranchPoint, ConfigError, type RunConfig } from '../config/config.ts';
import type { Issue } from '../config/orders.ts';
import { diffConfigs } from '../config/overrides.ts';
import type { Checkpoint } from '../store/checkpoints.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';

/** Parts of a config that decide what the weights mean and which reference they belong to. */
const SHARED = ['world', 'policy', 'reference'] as const;

const LONGEST_NAME = 120;

export interface Origin {
  readonly parent: Run;
  readonly checkpoint: Checkpoint;
}

/** The checkpoint of a branch, sound and at hand; a ConfigError says what is missing. */
export function originOf(store: Store, { run: uid, update }: BranchPoint): Origin {
  const parent = store.runs.findByUid(uid);
  if (!parent)
    throw new ConfigError(`The run ${uid} that this one branches from is not in this data folder: import it with its checkpoints`);
  const kept = store.checkpoints.list(parent.id);
  const checkpoint = kept.find((candidate) => candidate.update === update);
  if (!checkpoint) {
    const there = kept.map((candidate) => candidate.update).join(', ') || 'none';
    throw new ConfigError(`Run ${parent.id} has no checkpoint of update ${update}; it has ${there}`);
  }
  if (!store.checkpoints.isSound(checkpoint))
    throw new ConfigError(`The checkpoint of update ${update} of run ${parent.id} is missing or was changed; \`lab check\` says more`);
  return { parent, checkpoint };
}

/** The config of a branch before anything is changed in it. `update` may be `best`: the best validation success. */
export function branchConfig(store: Store, run: number, update: number | 'best'): RunConfig {
  const parent = store.runs.get(run);
  const at = update === 'best' ? parent.best?.update : update;
  if (at === undefined) throw new ConfigError(`Run ${run} has no validation yet, so it has no best checkpoint; give the update`);
  const branch = { run: parent.uid, update: at };
  originOf(store, branch);
  const { plugins: _plugins, ...config } = parent.config;
  const name = `${config.name.slice(0, LONGEST_NAME - 20)} from ${at}`;
  return { ...config, name, curriculum: { ...config.curriculum, start: levelAt(store, run, at, config.curriculum.start) }, branch };
}

/** What keeps a config from branching where it says; none for a run that is no branch. */
export function branchIssues(store: Store, config: RunConfig): Issue[] {
  if (config.branch === undefined) return [];
  try {
    const { parent } = originOf(store, config.branch);
    const before = parent.config;
    return SHARED.flatMap((part) =>
      diffConfigs([before[part], config[part]]).map(({ key, values: [was, now] }) => ({
        key: `${part}.${key}`,
        message:
          `A branch keeps the world, policy and reference of run ${parent.id}, whose weights it starts from: expected ` +
          `${JSON.stringify(was)}, found ${JSON.stringify(now)}. Set it back, or start a new run`,
      })),
    );
  } catch (error) {
    if (error instanceof ConfigError) return [{ key: 'branch', message: error.message }];
    throw error;
  }
}

/** A curriculum continues at the level it had reached. */
function levelAt(store: Store, run: number, update: number, start: number): number {
  const { updates, values } = store.metrics.series(run, 'rollout.level');
  const index = [...updates].findLastIndex((at) => at <= update);
  return index < 0 ? start : (values[index] ?? start);
}
