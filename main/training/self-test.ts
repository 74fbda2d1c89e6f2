// The smallest job of the training process: a dot product through onnxruntime-node, step by step, streamed like
// training is. It proves the whole way (native library, process border, port to the window) in milliseconds, and
// with `crash` that a native death is survived.

import { z } from 'zod';
import type { StreamMessage } from '../../preload/contract.ts';

/** An ONNX model of 103 bytes: c [1, 1] = a [1, 3] · b [3, 1]. */
const MODEL =
  'CAg6XQoRCgFhCgFiEgFjIgZNYXRNdWwSCXNlbGYtdGVzdFoTCgFhEg4KDAgBEggKAggBCgIIA1oTCgFiEg4KDAgBEggKAggDCgIIAWITCgFjEg4KDAgBEggKAggBCgIIAUIECgAQDQ==';

export const selfTestResult = z.object({
  value: z.number(),
  expected: z.number(),
  runtime: z.string(),
  telemetryOff: z.boolean(),
  milliseconds: z.number(),
});
type SelfTestResult = z.infer<typeof selfTestResult>;

interface SelfTestJob {
  readonly steps: number;
  readonly crash?: boolean | undefined;
}

export async function runSelfTest(job: SelfTestJob, stream: (message: StreamMessage) => void): Promise<SelfTestResult> {
  const begin = performance.now();
  const { InferenceSession, Tensor, env } = await import('onnxruntime-node');
  const session = await InferenceSession.create(Buffer.from(MODEL, 'base64'));
  let value = 0;
  for (let step = 1; step <= job.steps; step++) {
    const a = new Tensor('float32', Float32Array.of(step, 2 * step, 3 * step), [1, 3]);
    const b = new Tensor('float32', Float32Array.of(4, 5, 6), [3, 1]);
    const { c } = await session.run({ a, b });
    value = Number(c?.data[0]);
    stream({ kind: 'self-test', step, steps: job.steps, value });
    if (job.crash) process.abort();
  }
  await session.release();
  return {
    value,
    expected: 32 * job.steps, // (1·4 + 2·5 + 3·6) · steps
    runtime: `onnxruntime ${env.versions.common}`,
    telemetryOff: process.env.ORT_DISABLE_TELEMETRY === '1',
    milliseconds: performance.now() - begin,
  };
}
