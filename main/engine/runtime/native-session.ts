// onnxruntime-node, and what a lane needs of it; the only file that loads it, so telemetry is off before it starts. It imports nothing else: every module
// that a lane loads is there once more, and those of the graphs took 10 MB.

import type { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import type { PlainValue } from './lanes.ts';

process.env.ORT_DISABLE_TELEMETRY = '1';
export const runtime = await import('onnxruntime-node');

/** A tensor with values, on the CPU or in a GPU buffer. */
export type Value = RuntimeTensor;
export type Feeds = Readonly<Record<string, Value>>;
/** Outputs by name: a value to write into, or null for a new one. */
export type Fetches = Readonly<Record<string, Value | null>>;

export type Data = Float32Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array;

/** A session from a model's bytes. */
export const nativeSession = (model: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession> =>
  runtime.InferenceSession.create(model, options);

/**
 * Runs a session in this thread. A result that `wanted` has a value for is written into it. Inside Electron the binding also returns a copy of every such
 * result in fresh memory (2.6 ns a number), which is freed at once instead of by the collector.
 */
export async function nativeRun(session: InferenceSession, feeds: Feeds, wanted: Fetches): Promise<Record<string, Value>> {
  const results = { ...(await session.run(feeds, wanted)) };
  for (const [name, given] of Object.entries(wanted)) {
    if (given?.location !== 'cpu') continue;
    const copy = results[name];
    if (copy && copy !== given) release(copy);
    results[name] = given;
  }
  return results;
}

/** A value from another thread. */
export function nativeValue({ type, data, dims }: PlainValue): Value {
  for (const dtype of DTYPES) if (type === dtype && isData(data)) return new runtime.Tensor(dtype, data, dims);
  throw new TypeError(`A value of type ${type} cannot go to another thread; expected one of ${DTYPES.join(', ')}`);
}

const DTYPES = ['float32', 'int32', 'int64', 'bool'] as const;
const isData = (data: ArrayBufferView): data is Data =>
  data instanceof Float32Array || data instanceof Int32Array || data instanceof BigInt64Array || data instanceof Uint8Array;

/** Names of the execution providers that this build of the runtime has on this system. */
export const supportedBackends = (): readonly string[] => runtime.listSupportedBackends().map(({ name }) => name);

/** Gives a result's memory back at once instead of waiting for the collector. It cannot be used afterwards. */
export function release(value: Value): void {
  if (value.location !== 'cpu') value.dispose();
  else if (ArrayBuffer.isView(value.data) && value.data.buffer instanceof ArrayBuffer) value.data.buffer.transfer(0);
}
