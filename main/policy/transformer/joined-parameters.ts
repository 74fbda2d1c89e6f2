// Parameters put one below the other for sampling: matrices that are trained apart and multiplied with the same rows become one. They are copies, made
// anew when a game begins.

import { at } from '../../base/indexed.ts';
import type { Flat, ParameterLayout } from '../../engine/graph/parameters.ts';
import { float } from '../../engine/runtime/session.ts';
import type { Value } from '../../engine/runtime/session.ts';

/** A matrix made of the rows of several parameters. */
export interface JoinedParameter {
  readonly name: string;
  readonly shape: readonly [number, number];
  readonly parts: readonly string[];
}

export class JoinedParameters {
  /** By name. */
  readonly feeds: Readonly<Record<string, Value>>;
  readonly #layout: ParameterLayout;
  readonly #joined: readonly JoinedParameter[];
  readonly #numbers: readonly Float32Array[];

  constructor(layout: ParameterLayout, joined: readonly JoinedParameter[]) {
    this.#layout = layout;
    this.#joined = joined;
    this.#numbers = joined.map(({ shape: [rows, columns] }) => new Float32Array(rows * columns));
    this.feeds = Object.fromEntries(joined.map(({ name, shape }, i) => [name, float(at(this.#numbers, i), shape)]));
  }

  /** Copies the parameters as they are now. */
  fill(weights: Flat): void {
    for (const [i, { parts }] of this.#joined.entries()) {
      let start = 0;
      for (const name of parts) {
        const view = this.#layout.view(weights, name);
        at(this.#numbers, i).set(view, start);
        start += view.length;
      }
    }
  }
}
