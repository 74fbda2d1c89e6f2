// Buffers on a device that live longer than one call: keys and values of what is being written, and tables. The runtime's binding has no
// call to make or resize one, so small sessions do: a copy, and a choice of rows and times that leaves everything on the device.

import { Graph } from '../graph/graph.ts';
import type { DType, Dimension } from '../graph/graph.ts';
import { Session, float, integer, release } from '../runtime/session.ts';
import type { SessionOptions, Value } from '../runtime/session.ts';

export class DeviceBuffers {
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Session>();
  /** Every buffer made here and not given back: a buffer must not outlive the session that made it. */
  readonly #held = new Set<Value>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** A copy on the device. */
  async upload(value: Value): Promise<Value> {
    const shape = value.dims.map((_, axis) => `d${axis}`);
    const session = await this.#session(`upload ${value.type} ${shape.length}`, (graph) => {
      const dtype = dtypeOf(value);
      const x = graph.input('x', dtype, shape);
      return graph.node('StopGradient', [x], [{ shape, dtype }])[0];
    });
    return this.#hold(await session.run({ x: value }));
  }

  /** A new buffer of float32 numbers that are to be written. */
  async allocate(shape: readonly number[]): Promise<Value> {
    let buffer = await this.upload(
      float(
        new Float32Array(1),
        shape.map(() => 1),
      ),
    );
    for (const [axis, size] of shape.entries()) {
      const larger = await this.choose(buffer, axis, new Int32Array(size));
      this.free(buffer);
      buffer = larger;
    }
    return buffer;
  }

  /** A new buffer with the chosen entries of one axis; the old one stays. Entries that serve several buffers are uploaded before. */
  async choose(value: Value, axis: number, entries: Int32Array | Value): Promise<Value> {
    const dtype = dtypeOf(value);
    const shape: Dimension[] = value.dims.map((_, i) => `d${i}`);
    const session = await this.#session(`choose ${dtype} ${shape.length} ${axis}`, (graph) => {
      const x = graph.input('x', dtype, shape);
      const entries = graph.input('entries', 'int32', ['n']);
      return graph.node('Gather', [x, entries], [{ shape: shape.with(axis, 'n'), dtype }], { axis })[0];
    });
    const given = entries instanceof Int32Array ? integer(entries, [entries.length]) : entries;
    return this.#hold(await session.run({ x: value, entries: given }));
  }

  /** Gives one buffer back. */
  free(value: Value): void {
    if (this.#held.delete(value)) release(value);
  }

  async dispose(): Promise<void> {
    for (const value of this.#held) release(value);
    this.#held.clear();
    for (const session of this.#sessions.values()) await session.dispose();
    this.#sessions.clear();
  }

  #hold(results: Record<string, Value>): Value {
    const { y } = results;
    if (!y) throw new Error('The device gave no buffer');
    this.#held.add(y);
    return y;
  }

  async #session(name: string, build: (graph: Graph) => ReturnType<Graph['node']>[number] | undefined): Promise<Session> {
    const cached = this.#sessions.get(name);
    if (cached) return cached;
    const graph = new Graph(name);
    const y = build(graph);
    if (!y) throw new Error(`"${name}" has no result`);
    graph.output('y', y);
    const session = await Session.create(graph, { ...this.#options, keepOnDevice: ['y'] });
    this.#sessions.set(name, session);
    return session;
  }
}

function dtypeOf({ type }: Value): DType {
  if (type === 'float32' || type === 'int32') return type;
  throw new TypeError(`Buffers on a device hold float32 or int32 numbers, found ${type}`);
}
