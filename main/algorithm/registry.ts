// The built-in algorithms. A new one is a new file and one line here; config, forms, docs and tests follow from the list. A catalog
// (main/config/catalog.ts) adds those of plug-ins.

import type { Graph } from '../engine/graph/graph.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { Algorithm, Loss, Needs, Prepared, Progress } from './algorithm.ts';
import type { LossInput, PolicyTensors } from '../policy/transformer/batch.ts';
import { astarPg } from './astar-pg.ts';
import { astarPo } from './astar-po.ts';
import { expertIteration } from './expert-iteration.ts';
import { grpo } from './grpo.ts';
import { hybrid } from './hybrid.ts';
import { oapl } from './oapl.ts';
import { ppo } from './ppo.ts';
import { reinforceFixed } from './reinforce-fixed.ts';
import { reinforce } from './reinforce.ts';
import { weightedSft } from './weighted-sft.ts';

export const builtInAlgorithms: readonly Algorithm[] = [
  astarPo,
  astarPg,
  weightedSft,
  reinforce,
  reinforceFixed,
  hybrid,
  ppo,
  grpo,
  expertIteration,
  oapl,
];

/** A catalog (main/config/catalog.ts), as far as algorithms go. */
export interface Algorithms {
  readonly algorithms: readonly Algorithm[];
}

/** An algorithm with its settings filled in: what the training loop works with. */
export interface BoundAlgorithm {
  readonly id: string;
  readonly title: string;
  readonly needs: Needs;
  prepare(trajectories: readonly Trajectory[], progress: Progress): Prepared;
  loss(graph: Graph, policy: PolicyTensors, input: LossInput): Loss;
}

/** False for the algorithm of a plug-in that is not there. */
export const hasAlgorithm = ({ algorithms }: Algorithms, id: string): boolean => algorithms.some((algorithm) => algorithm.id === id);

/** The algorithm that `config.algorithm` describes. */
export function algorithmOf(
  { algorithms }: Algorithms,
  config: { readonly id: string; readonly [setting: string]: unknown },
): BoundAlgorithm {
  const { id, ...rest } = config;
  const algorithm = algorithms.find((candidate) => candidate.id === id);
  if (!algorithm) throw new RangeError(`Expected one of the algorithms ${algorithms.map((known) => known.id).join(', ')}; found "${id}"`);
  const settings = algorithm.settings.parse(rest);
  return {
    id,
    title: algorithm.title,
    needs: algorithm.needs(settings),
    prepare: (trajectories, progress) => algorithm.prepare(trajectories, settings, progress),
    loss: (graph, policy, input) => algorithm.loss(graph, policy, input, settings),
  };
}
