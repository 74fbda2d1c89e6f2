// Runs graphs: every session gets the options that were measured to be fast. A run blocks its process for its whole length: training and sampling live
// in a worker or utility process. The same value may be passed as feed and fetch; the result then overwrites it.

import { availableParallelism, freemem } from 'node:os';
import type { InferenceSession } from 'onnxruntime-node';
import type { DeviceCounters } from '../gpu/device-counters.ts';
import { Graph, elementCount, showShape } from '../graph/graph.ts';
import type { DType, Tensor } from '../graph/graph.ts';
import { type Lane, LaneSession, type PlainValue } from './lanes.ts';
import { largestTensors, megabytes, peakBytes } from '../graph/memory.ts';
import { encode, encodeCounted, externalFolder } from '../graph/onnx.ts';
import { type Data, nativeRun, nativeSession, nativeValue, runtime } from './native-session.ts';
import type { Feeds, Fetches, Value } from './native-session.ts';
import type { Target } from '../graph/onnx.ts';
import type { Half } from '../graph/onnx-products.ts';
import { type Subject, engineError, outOfMemory } from './errors.ts';
import { isShared } from './shared-memory.ts';

export { release, supportedBackends } from './native-session.ts';
export type { Feeds, Fetches, Value } from './native-session.ts';

export interface SessionOptions {
  /** Threads inside one operator; default: all processors. */
  readonly threads?: number;
  /**
   * Whether idle threads wait busily for the next operator (default). Good for one session that runs all the time; where several take
   * turns, the threads of those that have just run keep the processors from the one that runs. `briefly`: for a moment after each
   * operator, and not at all between two runs: for calls of hundreds of short operators, where waking a thread takes as long as half of one.
   */
  readonly spinning?: boolean | 'briefly';
  /** Execution providers, best first; default: the CPU. */
  readonly providers?: readonly InferenceSession.ExecutionProviderConfig[];
  readonly target?: Target;
  /** Whether a training state stays on the device between steps; default: on a GPU. */
  readonly stateOnDevice?: boolean;
  /** Compute matrix products in half precision: faster on graphics cards that have it. With float16, training scales the loss. */
  readonly half?: Half;
  /**
   * Whether the second run takes all memory in one planned block (default). The first run's memory stays with the session as well, so
   * a large graph then holds twice what it needs.
   */
  readonly plannedMemory?: boolean;
  /** The thread that the session lives in; default: this one. */
  readonly lane?: Lane | undefined;
  /** Counts what calls cost on a device. */
  readonly counters?: DeviceCounters;
  /** Outputs that stay on the device. */
  readonly keepOnDevice?: readonly string[];
  /** Further options of onnxruntime, for measurements. */
  readonly extra?: Partial<InferenceSession.SessionOptions>;
}

/** Whether a training state stays on the device between steps. */
export const stateStays = ({ stateOnDevice, target }: SessionOptions): boolean => stateOnDevice ?? target === 'gpu';

export function value(dtype: DType, data: Data, shape: readonly number[]): Value {
  if (elementCount(shape) !== data.length)
    throw new RangeError(`A ${dtype} value of shape ${showShape(shape)} needs ${elementCount(shape)} numbers, found ${data.length}`);
  return new runtime.Tensor(dtype, data, shape);
}

/**
 * The runtime rounds denormal numbers to zero only in the thread that makes the first session of a process (and in the threads of its sessions). Threads that are
 * started later inherit it, so a session is made here before there is any lane: every lane then gives the same numbers.
 */
let first: Promise<void> | undefined;
export function firstSession(): Promise<void> {
  first ??= (async () => {
    const graph = new Graph('first');
    graph.output('y', graph.node('Neg', [graph.input('x', 'float32', [1])], [{ shape: [1], dtype: 'float32' }])[0] ?? graph.scalar(0));
    const session = await nativeSession(encode(graph), { intraOpNumThreads: 1, extra: { session: { set_denormal_as_zero: '1' } } });
    await session.release();
  })();
  return first;
}

export const float = (data: Float32Array, shape: readonly number[]): Value => value('float32', data, shape);
export const integer = (data: Int32Array, shape: readonly number[]): Value => value('int32', data, shape);
export const scalarValue = (number: number): Value => value('float32', Float32Array.of(number), []);

/** The numbers of a float32 value that is on the CPU. */
export function floats(of: Value): Float32Array {
  if (of.data instanceof Float32Array) return of.data;
  throw new TypeError(`Expected float32 numbers, found ${of.type}`);
}

/** Who counts what a session's calls cost, and the kernels of one. */
interface Counted {
  readonly counters: DeviceCounters;
  readonly kernels: number;
}

export class Session {
  readonly #graph: Graph;
  readonly #session: InferenceSession | LaneSession;
  readonly #kept: ReadonlySet<string>;
  readonly #counted: Counted | undefined;
  #bound: Feeds = {};
  #disposed = false;

  private constructor(graph: Graph, session: InferenceSession | LaneSession, options: SessionOptions, kernels: number) {
    this.#graph = graph;
    this.#session = session;
    this.#kept = new Set(options.keepOnDevice ?? []);
    this.#counted = options.counters && { counters: options.counters, kernels };
  }

  static async create(graph: Graph, options: SessionOptions = {}): Promise<Session> {
    const {
      threads = availableParallelism(),
      spinning = true,
      providers = ['cpu'],
      target = 'cpu',
      half,
      plannedMemory = true,
      extra,
    } = options;
    // Only through WebGPU can the binding leave results where they are.
    const onWebgpu = providers.includes('webgpu');
    const keepOnDevice = (onWebgpu && options.keepOnDevice) || [];
    const locations = Object.fromEntries(
      [...graph.outputs.keys()].map((name) => [name, keepOnDevice.includes(name) ? ('gpu-buffer' as const) : ('cpu' as const)]),
    );
    if (target === 'cpu') refuseTooLarge(graph);
    try {
      const settings: InferenceSession.SessionOptions = {
        executionProviders: providers,
        executionMode: 'sequential',
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        graphOptimizationLevel: 'all',
        enableCpuMemArena: true,
        enableMemPattern: plannedMemory,
        logSeverityLevel: 3,
        ...(keepOnDevice.length > 0 ? { preferredOutputLocation: locations } : {}),
        extra: {
          session: {
            set_denormal_as_zero: '1',
            ...spinOptions(spinning),
            ...(onWebgpu && { disable_cpu_ep_fallback: '1' }),
            ...mapped(graph),
          },
          // Half-precision weights would be unpacked once and for all, in every session.
          ...(graph.constants.some(({ external, dtype }) => external && dtype === 'float16') && {
            optimization: { disable_specified_optimizers: 'ConstantFolding' },
          }),
        },
        ...extra,
      };
      const { bytes, kernels } = encodeCounted(graph, target, halfFor(half, providers), threads);
      if (options.lane) await firstSession();
      const session = await (options.lane ? options.lane.create(bytes, settings) : nativeSession(bytes, settings));
      return new Session(graph, session, options, kernels);
    } catch (error) {
      throw engineError(error, subjectOf(graph), 'could not be prepared');
    }
  }

  get inputs(): readonly string[] {
    return this.#session.inputNames;
  }

  /** Feeds of every later run (those that the graph lacks are left out); for a session in a lane they must lie in shared memory. Only their numbers may change. */
  async bind(feeds: Feeds): Promise<void> {
    const bound: Record<string, Value> = {};
    for (const [name, feed] of Object.entries(feeds)) {
      const input = this.#graph.inputs.get(name);
      if (!input) continue;
      this.#check(name, input, feed);
      bound[name] = feed;
    }
    this.#bound = bound;
    if (this.#session instanceof LaneSession)
      await this.#session.bind(Object.fromEntries(Object.entries(bound).map(([name, feed]) => [name, plainValue(name, feed)])));
  }

  /** Computes the outputs (default: all) from the feeds. */
  async run(feeds: Feeds, fetches: Fetches = {}): Promise<Record<string, Value>> {
    if (this.#disposed) throw new Error(`The session of "${this.#graph.name}" was disposed and cannot run`);
    for (const [name, input] of this.#graph.inputs) if (!this.#bound[name]) this.#check(name, input, feeds[name]);
    const wanted =
      Object.keys(fetches).length > 0 ? fetches : Object.fromEntries([...this.#graph.outputs.keys()].map((name) => [name, null]));
    for (const [name, given] of Object.entries(wanted)) this.#checkResult(name, given);
    try {
      const begin = performance.now();
      const results = await this.#compute(feeds, wanted);
      this.#count(feeds, wanted, results, (performance.now() - begin) / 1e3);
      return results;
    } catch (error) {
      throw engineError(error, subjectOf(this.#graph), 'failed');
    }
  }

  #check(name: string, input: Tensor, feed: Value | undefined): void {
    if (!feed)
      throw new RangeError(`"${this.#graph.name}" needs the input "${name}" ${input.dtype}${showShape(input.shape)}, but it was not given`);
    const fits =
      feed.type === input.dtype &&
      feed.dims.length === input.rank &&
      input.shape.every((size, i) => typeof size === 'string' || size === feed.dims[i]);
    if (!fits)
      throw new RangeError(
        `"${this.#graph.name}" needs the input "${name}" as ${input.dtype}${showShape(input.shape)}, found ${feed.type}${showShape(feed.dims)}`,
      );
  }

  #checkResult(name: string, given: Value | null): void {
    if (given && this.#session instanceof LaneSession && !(ArrayBuffer.isView(given.data) && isShared(given.data)))
      throw new RangeError(
        `"${this.#graph.name}" runs in another thread: "${name}" needs a value in shared memory, found one in this thread's`,
      );
  }

  async #compute(feeds: Feeds, wanted: Fetches): Promise<Record<string, Value>> {
    if (!(this.#session instanceof LaneSession)) return nativeRun(this.#session, { ...this.#bound, ...feeds }, wanted);
    const plain: Record<string, PlainValue> = {};
    for (const name of this.#graph.inputs.keys()) if (!this.#bound[name]) plain[name] = plainValue(name, feeds[name]);
    const given = Object.entries(wanted).flatMap(([name, value]) => (value ? [[name, plainValue(name, value)] as const] : []));
    const results = await this.#session.run(plain, Object.keys(wanted), Object.fromEntries(given));
    const returned = Object.fromEntries(Object.entries(results).map(([name, result]) => [name, nativeValue(result)]));
    return { ...returned, ...Object.fromEntries(Object.entries(wanted).flatMap(([name, value]) => (value ? [[name, value]] : []))) };
  }

  /** What travelled: everything but what was on the device and what stays there. */
  #count(feeds: Feeds, fetches: Fetches, results: Feeds, seconds: number): void {
    for (const name of this.#kept) if (results[name]) residents.add(results[name]);
    if (!this.#counted) return;
    const { counters, kernels } = this.#counted;
    const fed = [...this.#graph.inputs.keys()].flatMap((name) => feeds[name] ?? []);
    const fetched = Object.entries(fetches).flatMap(([name, given]) => given ?? results[name] ?? []);
    counters.add({ bytesUploaded: hostBytes(fed), bytesDownloaded: hostBytes(fetched), kernels, hostWaitSeconds: seconds });
  }

  /** Frees everything native. Values that were fetched stay valid. */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#session.release();
  }
}

/** Microseconds that a thread waits busily after its share of an operator, where it does so briefly: longer than what lies between two that are shared. */
const MOMENT = 100;

/** How threads wait for the next operator. */
function spinOptions(spinning: boolean | 'briefly'): Record<string, unknown> {
  if (spinning !== 'briefly') return { intra_op: { allow_spinning: spinning ? '1' : '0' } };
  return { intra_op: { allow_spinning: '1', spin_duration_us: String(MOMENT) }, force_spinning_stop: '1' };
}

/** The CPU has no products in half precision; there their numbers are rounded instead. */
const halfFor = (half: Half | undefined, providers: readonly unknown[]): Half | undefined =>
  half === 'float16' && providers[0] === 'cpu' ? 'rounded' : half;

function plainValue(name: string, feed: Value | undefined): PlainValue {
  if (!feed || !ArrayBuffer.isView(feed.data))
    throw new TypeError(`The value "${name}" cannot go to another thread: ${feed?.type ?? 'nothing was given'}`);
  return { type: feed.type, data: feed.data, dims: feed.dims };
}

/** Values that are on the device, or would be if there were one: the tests count bytes on the CPU as well. */
const residents = new WeakSet<Value>();

function hostBytes(values: readonly Value[]): number {
  const travelling = values.filter((one) => one.location === 'cpu' && !residents.has(one));
  return travelling.reduce((sum, { data }) => sum + (ArrayBuffer.isView(data) ? data.byteLength : 0), 0);
}

/**
 * Mapped weights stay where they are: rearranged or unpacked copies of them would cost every session the size of the model. Products in
 * blocks of a few bits are the exception: without rearranging they are six times slower.
 */
function mapped(graph: Graph): Record<string, unknown> {
  const folder = externalFolder(graph);
  if (folder === undefined) return {};
  const blocks = graph.nodes.some(({ op }) => op === 'BlockProduct');
  return { model_external_initializers_file_folder_path: folder, disable_prepacking: blocks ? '0' : '1' };
}

function refuseTooLarge(graph: Graph): void {
  const [needed, free] = [peakBytes(graph), freemem()];
  if (needed > free) throw outOfMemory(subjectOf(graph), `about ${megabytes(needed)} are needed, ${megabytes(free)} are free`);
}

const subjectOf = (graph: Graph): Subject => ({ name: graph.name, largest: () => largestTensors(graph) });
