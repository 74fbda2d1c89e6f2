// Where gradients lie. A small model's come back from the runtime, in two vectors. Larger ones are written into long vectors in shared memory, which are used again and
// again: handed back, they would be copied into fresh memory for every micro-batch, which takes longer than adding them up. Below that, an exception (see
// `nativeRun` in native-session.ts) takes longer than the copy.

import { sharedNumbers } from './shared-numbers.ts';
import type { Flat, Group, ParameterLayout } from '../graph/parameters.ts';
import { float, floats, release } from './session.ts';
import type { Feeds, Session, Value } from './session.ts';

type Vectors = Readonly<Record<Group, Float32Array>>;

/** The gradients of one micro-batch, or the sum of several. */
export interface Gradients {
  readonly vectors: Vectors;
  /** Where they are written: the results of the graph that lie there. Where they came back: they themselves. */
  readonly results: Feeds;
}

/** Stands where the report has the norm until the graph has written it. */
const UNWRITTEN = -1;

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
  readonly #free: Gradients[] = [];

  /** `apart`: the graph gives every parameter's gradient as a result. */
  constructor(layout: ParameterLayout, apart: boolean) {
    this.#layout = layout;
    this.#apart = apart;
  }

  /** Runs the session of a gradient graph; its report has so many numbers. */
  async run(session: Session, feeds: Feeds, length: number): Promise<{ report: Float32Array; gradients: Gradients }> {
    if (!this.#apart) {
      const { report, ...results } = await session.run(feeds);
      const vectors = { ...NOTHING, ...Object.fromEntries(this.#layout.groups.map((group) => [group, vector(results, group)])) };
      return { report: report ? floats(report) : NOTHING.plain, gradients: { vectors, results } };
    }
    const gradients = this.#free.pop() ?? this.#fresh();
    const report = sharedNumbers(length);
    report[1] = UNWRITTEN;
    await session.run(feeds, { ...gradients.results, report: float(report, [length]) });
    if (report[1] === UNWRITTEN)
      throw new Error('The step was computed, but its gradients were not written: expected the onnxruntime-node that package.json names');
    return { report, gradients };
  }

  /** Whoever gives them back looks at them no more. */
  giveBack(gradients: Gradients): void {
    if (this.#apart) this.#free.push(gradients);
    else for (const result of Object.values(gradients.results)) release(result);
  }

  #fresh(): Gradients {
    const { lengths, groups } = this.#layout;
    const vectors = { decay: sharedNumbers(lengths.decay), plain: sharedNumbers(lengths.plain) };
    const order = groups.map((group) => [`order.${group}`, float(sharedNumbers(1), [1])] as const);
    return { vectors, results: { ...namedParts(this.#layout, vectors, 'gradient', true), ...Object.fromEntries(order) } };
  }
}

const NOTHING: Flat = { decay: new Float32Array(0), plain: new Float32Array(0) };

function vector(results: Readonly<Record<string, Value>>, group: Group): Float32Array {
  const found = results[`gradient.${group}`];
  if (!found) throw new Error(`The training step gave no "gradient.${group}"`);
  return floats(found);
}
