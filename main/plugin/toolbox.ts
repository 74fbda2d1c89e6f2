// What a plug-in in TypeScript gets to work with, handed to it as one object: it needs no import but types, so it can lie anywhere and runs the same
// from the sources and from the bundle. This is the documented interface (resources/plugin/astrolab.d.ts); anything else in the lab may change.

import { z } from 'zod';
import * as advantage from '../algorithm/advantage.ts';
import * as algorithm from '../algorithm/algorithm.ts';
import * as terms from '../algorithm/terms.ts';
import * as vstar from '../algorithm/vstar.ts';
import * as operators from '../engine/graph/operators.ts';
import { admits, tidy } from '../environment/grammar.ts';
import { between, knob, whole } from '../base/knob.ts';
import { Random } from '../base/random.ts';
import { deviation, mean } from '../base/statistics.ts';

export const toolbox = {
  /** The version of this interface. */
  version: 1,
  z,
  knob,
  between,
  whole,
  random: (...names: readonly (string | number)[]) => Random.from(...names),
  tidy,
  admits,
  mean,
  deviation,
  /** Operators of the engine's graph; gradients are automatic. */
  operators,
  /** Advantages, clamping, groups. */
  advantage,
  /** Rewards, lengths and token numbers of trajectories. */
  trajectories: {
    rewardOf: vstar.rewardOf,
    rewardsOf: algorithm.rewardsOf,
    optimalAdvantages: algorithm.optimalAdvantages,
    referenceSums: algorithm.referenceSums,
    tokenNumbers: algorithm.tokenNumbers,
    inverseLengths: algorithm.inverseLengths,
    lengthInputs: algorithm.lengthInputs,
    advantageMetrics: algorithm.advantageMetrics,
  },
  /** Parts that losses are made of. */
  terms,
};
