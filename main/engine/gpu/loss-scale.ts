// Loss scaling for half precision, whose smallest numbers are not small enough for gradients: the loss is multiplied by a large
// factor while they are computed, and they are divided by it after. Where that overflows the step changes nothing and is taken
// again with a quarter of the factor; after many good steps the factor doubles. It comes in as a number, so no session is made anew.

import { scalarValue } from '../runtime/session.ts';
import type { MicroBatch, StepReport } from '../runtime/training-report.ts';

const MOST = 2 ** 16;
const PATIENCE = 1000;

export class LossScale {
  #factor: number;
  #good = 0;

  constructor(factor = 2 ** 12) {
    this.#factor = factor;
  }

  /** The micro-batch with its loss scaled. */
  apply(batch: MicroBatch): MicroBatch {
    return {
      key: batch.key,
      build: (graph, parameters) => ({ ...batch.build(graph, parameters), lossScale: graph.input('lossScale', 'float32', []) }),
      feeds: { ...batch.feeds, lossScale: scalarValue(this.#factor) },
    };
  }

  /** Whether the step should be taken again, with a smaller factor. A loss that is not finite itself is not the factor's fault. */
  retry({ loss, gradientNorm }: StepReport): boolean {
    if (Number.isFinite(gradientNorm)) {
      if (++this.#good % PATIENCE === 0) this.#factor = Math.min(MOST, this.#factor * 2);
      return false;
    }
    if (!Number.isFinite(loss) || this.#factor <= 1) return false;
    this.#good = 0;
    this.#factor /= 4;
    return true;
  }
}
