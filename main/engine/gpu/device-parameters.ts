// A policy's parameters on a device, each in a buffer of its own under its name, for everything that reads them there: sampler and scorer
// share them. They are cut out of the training state's two long vectors on the device, once after each change; nothing travels. In half
// precision the matrices are rounded then, once; the vectors that training changes stay in single precision.

import { Graph } from '../graph/graph.ts';
import type { Tensor } from '../graph/graph.ts';
import * as op from '../graph/operators.ts';
import type { Flat, ParameterLayout, ParameterSpec, Parameters } from '../graph/parameters.ts';
import { Session, float, release } from '../runtime/session.ts';
import type { Feeds, SessionOptions, Value } from '../runtime/session.ts';

/**
 * Whether sampler and scorer read a parameter in half precision: the matrices of products. Only buffers on a device can be; from plain
 * memory the runtime's binding takes no such numbers (it does not know Float16Array).
 */
const inHalf = ({ shape }: ParameterSpec, { half, providers }: SessionOptions): boolean =>
  half === 'float16' && providers?.[0] === 'webgpu' && shape.length === 2 && shape.every((extent) => extent >= 4);

/** Every parameter as an input under its name, as `DeviceParameters` gives them. */
export function deviceInputs(graph: Graph, layout: ParameterLayout, session: SessionOptions): Parameters {
  const specs = new Map(layout.specs.map((spec) => [spec.name, spec]));
  const tensors = new Map<string, Tensor>();
  return (name) => {
    const spec = specs.get(name);
    if (!spec) throw new Error(`The model asks for the parameter "${name}", which its layout does not have`);
    const found = tensors.get(name);
    if (found) return found;
    const tensor = inHalf(spec, session)
      ? op.cast(graph.input(name, 'float16', spec.shape), 'float32')
      : graph.input(name, 'float32', spec.shape);
    tensors.set(name, tensor);
    return tensor;
  };
}

export class DeviceParameters {
  readonly layout: ParameterLayout;
  /** How sessions are made that read them. */
  readonly session: SessionOptions;
  readonly #vectors: () => Promise<Feeds>;
  #current: Record<string, Value> | undefined;
  #stale = true;
  #cutter: Session | undefined;

  /** `vectors` gives `values.decay` and `values.plain` as they are now. */
  constructor(layout: ParameterLayout, session: SessionOptions, vectors: () => Promise<Feeds>) {
    this.layout = layout;
    this.session = session;
    this.#vectors = vectors;
  }

  /** Parameters that do not change: they are sent to the device when first asked for. */
  static fixed(layout: ParameterLayout, session: SessionOptions, flat: Flat): DeviceParameters {
    return new DeviceParameters(layout, session, async () =>
      Object.fromEntries(layout.groups.map((group) => [`values.${group}`, float(flat[group], [layout.lengths[group]])])),
    );
  }

  /** The vectors have changed. */
  changed(): void {
    this.#stale = true;
  }

  /** Every parameter by its name. Valid until the next change. */
  async feeds(): Promise<Feeds> {
    if (this.#current && !this.#stale) return this.#current;
    this.#cutter ??= await this.#makeCutter();
    const cut = await this.#cutter.run(await this.#vectors());
    this.#free();
    this.#stale = false;
    this.#current = cut;
    return cut;
  }

  /** Gives the buffers back; whoever uses them again gets new ones. */
  async dispose(): Promise<void> {
    this.#free();
    this.#stale = true;
    await this.#cutter?.dispose();
    this.#cutter = undefined;
  }

  #free(): void {
    for (const value of Object.values(this.#current ?? {})) release(value);
    this.#current = undefined;
  }

  async #makeCutter(): Promise<Session> {
    const graph = new Graph('cut parameters');
    const halved = new Set(this.layout.specs.filter((spec) => inHalf(spec, this.session)).map(({ name }) => name));
    for (const [name, tensor] of this.layout.unpack(this.layout.inputs(graph, 'values')))
      graph.output(name, halved.has(name) ? op.cast(tensor, 'float16') : tensor);
    return Session.create(graph, { ...this.session, keepOnDevice: [...graph.outputs.keys()] });
  }
}
