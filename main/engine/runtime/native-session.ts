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

/** What the binding says when it has run a graph and comes to a result that is no tensor. */
const NO_TENSOR = 'Non tensor type is temporarily not supported';

/**
 * Runs a session here. Inside Electron the binding copies every result into fresh memory when the run is over, those too that were written into a given value:
 * 2.6 ns a number, a third of what AdamW takes. It begins with the first result and stops at one that it cannot hand over, and by then all given values have been
 * written. So a session that only writes has an empty sequence before its results, and its failure to return that is the end of a run that went well. Whoever relies on it
 * makes sure that the results were written (gradient-buffers.ts); a binding that can return sequences would return copies again, which are given back at once.
 */
export async function nativeRun(session: InferenceSession, feeds: Feeds, wanted: Fetches): Promise<Record<string, Value>> {
  const [first] = session.outputMetadata;
  if (!first || first.isTensor) return { ...(await session.run(feeds, wanted)) };
  try {
    const copies = { ...(await session.run(feeds, { [first.name]: null, ...wanted })) };
    for (const name of Object.keys(wanted)) if (copies[name]) release(copies[name]);
  } catch (error) {
    if (!String(error).includes(NO_TENSOR)) throw error;
  }
  return {};
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
