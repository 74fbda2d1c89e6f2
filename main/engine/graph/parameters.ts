// Where each parameter lives. All parameters are kept in two long vectors (one with weight decay, one without), so that
// the optimizer is a handful of operators whatever the size of the model; a third faster for small models than one
// update per matrix. The layout maps readable names to places in them, for graphs, checkpoints and samplers alike.

import { GraphError, elementCount } from './graph.ts';
import type { Graph, Tensor } from './graph.ts';
import { sharedNumbers } from '../runtime/shared-memory.ts';
import { concat, gather, reshape, slice, split } from './operators.ts';

export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
  /** Whether weight decay pulls it towards zero: matrices yes, gains and gates no. */
  readonly decay: boolean;
  /** It starts as mean + deviation · normal. */
  readonly mean?: number;
  readonly deviation?: number;
}

export type Group = 'decay' | 'plain';
/** One vector per group; those of a training state lie in shared memory (`zeros`). */
export type Flat = Readonly<Record<Group, Float32Array>>;
/** The parameters by name, as tensors of a graph. */
export type Parameters = (name: string) => Tensor;

interface Place {
  readonly spec: ParameterSpec;
  readonly group: Group;
  readonly offset: number;
  readonly size: number;
}

export class ParameterLayout {
  readonly specs: readonly ParameterSpec[];
  /** Length of each vector. */
  readonly lengths: Readonly<Record<Group, number>>;
  readonly #places = new Map<string, Place>();

  constructor(specs: readonly ParameterSpec[]) {
    this.specs = specs;
    const lengths = { decay: 0, plain: 0 };
    for (const spec of specs) {
      if (this.#places.has(spec.name)) throw new GraphError(`Two parameters are called "${spec.name}"; names must differ`);
      const group = spec.decay ? 'decay' : 'plain';
      const size = elementCount(spec.shape);
      this.#places.set(spec.name, { spec, group, offset: lengths[group], size });
      lengths[group] += size;
    }
    this.lengths = lengths;
  }

  /** The groups that hold anything. */
  get groups(): readonly Group[] {
    return (['decay', 'plain'] as const).filter((group) => this.lengths[group] > 0);
  }

  /** Number of parameters. */
  get count(): number {
    return this.lengths.decay + this.lengths.plain;
  }

  /** In shared memory: lanes read the weights and change the optimizer's state where they are. What is needed only for a moment is better kept elsewhere: nothing tells the collector how large it is. */
  zeros(): Flat {
    return { decay: sharedNumbers(this.lengths.decay), plain: sharedNumbers(this.lengths.plain) };
  }

  /** Starting values; `normal` draws from the standard normal distribution. */
  initialise(normal: () => number): Flat {
    const flat = this.zeros();
    for (const { name, mean = 0, deviation = 0 } of this.specs) {
      const view = this.view(flat, name);
      for (let i = 0; i < view.length; i++) view[i] = deviation === 0 ? mean : mean + deviation * normal();
    }
    return flat;
  }

  /** One parameter's numbers, sharing memory with the vector. */
  view<Memory extends ArrayBufferLike>(flat: Readonly<Record<Group, Float32Array<Memory>>>, name: string): Float32Array<Memory> {
    const { group, offset, size } = this.#place(name);
    return flat[group].subarray(offset, offset + size);
  }

  /** Declares every parameter as an input `prefix.name`. */
  inputsApart(graph: Graph, prefix: string): ReadonlyMap<string, Tensor> {
    return new Map(this.specs.map(({ name, shape }) => [name, graph.input(`${prefix}.${name}`, 'float32', shape)]));
  }

  /** Declares the vectors as inputs `prefix.decay` and `prefix.plain`. */
  inputs(graph: Graph, prefix: string): ReadonlyMap<Group, Tensor> {
    return new Map(this.groups.map((group) => [group, graph.input(`${prefix}.${group}`, 'float32', [this.lengths[group]])]));
  }

  /** Cuts the vectors into the named parameters. */
  unpack(vectors: ReadonlyMap<Group, Tensor>): ReadonlyMap<string, Tensor> {
    const parameters = new Map<string, Tensor>();
    for (const [group, vector] of vectors) {
      const places = this.#of(group);
      vector.graph.scope(`unpack.${group}`, () => {
        const parts = split(
          vector,
          places.map(({ size }) => size),
          0,
        );
        for (const [i, { spec }] of places.entries()) {
          const part = parts[i];
          if (part) parameters.set(spec.name, reshape(part, spec.shape));
        }
      });
    }
    return parameters;
  }

  /**
   * The opposite: one vector per group from tensors by name, such as gradients. The order matters: the runtime works backwards from
   * the node that was added last, so with the matrices last it computes each layer's gradients as soon as it can and frees what
   * they need. The other way round they all wait for the end, and everything stays in memory until then.
   */
  pack(tensors: ReadonlyMap<string, Tensor>): ReadonlyMap<Group, Tensor> {
    return new Map(
      this.groups.toReversed().map((group) => {
        const parts = this.#of(group).map(({ spec, size }) => reshape(lookup(tensors, spec.name), [size]));
        return [group, concat(parts, 0)];
      }),
    );
  }

  /** One number of each tensor, in the order of `pack`: nodes that need all of them, as packing does, and move nothing. */
  touch(tensors: ReadonlyMap<string, Tensor>): ReadonlyMap<Group, Tensor> {
    return new Map(
      this.groups.toReversed().map((group) => {
        const parts = this.#of(group).map(({ spec }) => firstRow(lookup(tensors, spec.name)));
        return [group, slice(concat(parts, 0), 0, 0, 1)];
      }),
    );
  }

  #of(group: Group): readonly Place[] {
    return [...this.#places.values()].filter((place) => place.group === group);
  }

  #place(name: string): Place {
    const place = this.#places.get(name);
    if (!place) throw new GraphError(`There is no parameter "${name}"; there are ${[...this.#places.keys()].join(', ')}`);
    return place;
  }
}

/** The first row of a matrix, the first number of a vector. */
function firstRow(tensor: Tensor): Tensor {
  const indices = tensor.rank === 1 ? tensor.graph.constant(Int32Array.of(0), [1], 'int32', 'first') : tensor.graph.scalar(0, 'int32');
  const row = gather(tensor, indices);
  return row.rank === 1 ? row : reshape(row, [elementCount(row.shape)]);
}

export function lookup(tensors: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const tensor = tensors.get(name);
  if (!tensor) throw new GraphError(`There is no parameter "${name}"; there are ${[...tensors.keys()].join(', ')}`);
  return tensor;
}
