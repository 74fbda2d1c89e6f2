// How the names of training episodes are shuffled. Each episode has an order of its own, but the episodes of a group share one where the policy is a language model: then they
// begin alike, and what they share is computed once.

import type { RunConfig } from '../config/config.ts';
import { Random } from '../base/random.ts';

/** For `EpisodeRequest.relabel`. `place` tells groups apart, the seed among it. */
export function groupNames({ policy }: RunConfig, group: number, ...place: readonly (string | number)[]): number | true {
  return policy.kind === 'model' && group > 1 ? Random.from('names', ...place).integer() : true;
}
