// Where gradients are written: long vectors in shared memory, used again and again. Fresh memory for every micro-batch would cost more time than adding it up.

import { sharedNumbers } from './lanes.ts';
import type { Group, ParameterLayout } from './parameters.ts';
import { float } from './session.ts';
import type { Feeds } from './session.ts';

type Vectors = Readonly<Record<Group, Float32Array>>;

/** The gradients of one micro-batch, or the sum of several. */
export interface GradientBuffer {
  readonly vectors: Vectors;
  /** The results that a gradient graph writes there. */
  readonly results: Feeds;
}

/** What a gradient graph calls these vectors: each parameter's part of them, or the vectors as they are. */
export function namedParts(layout: ParameterLayout, vectors: Vectors, prefix: string, apart: boolean): Feeds {
  return Object.fromEntries(
    apart
      ? layout.specs.map(({ name, shape }) => [`${prefix}.${name}`, float(layout.view(vectors, name), shape)])
      : layout.groups.map((group) => [`${prefix}.${group}`, float(vectors[group], [layout.lengths[group]])]),
  );
}

export class GradientBuffers {
  readonly #layout: ParameterLayout;
  readonly #apart: boolean;
  readonly #free: GradientBuffer[] = [];

  /** `apart`: the graph gives every parameter's gradient as a result. */
  constructor(layout: ParameterLayout, apart: boolean) {
    this.#layout = layout;
    this.#apart = apart;
  }

  take(): GradientBuffer {
    const known = this.#free.pop();
    if (known) return known;
    const { lengths, groups } = this.#layout;
    const vectors = { decay: sharedNumbers(lengths.decay), plain: sharedNumbers(lengths.plain) };
    const order = this.#apart ? groups.map((group) => [`order.${group}`, float(sharedNumbers(1), [1])] as const) : [];
    return { vectors, results: { ...namedParts(this.#layout, vectors, 'gradient', this.#apart), ...Object.fromEntries(order) } };
  }

  giveBack(buffer: GradientBuffer): void {
    this.#free.push(buffer);
  }
}
