// The smallest job of the worker process: a dot product through the engine (graph, ONNX, onnxruntime), step by step. It
// proves the whole way (native library, process border) in milliseconds, and with `crash` that a native death is survived.

import { z } from 'zod';

export const selfTestResult = z.object({
  /** What onnxruntime computed for the test product, and what it should be. */
  value: z.number(),
  expected: z.number(),
  /** What the runtime can compute on: cpu, webgpu, cuda, … */
  backends: z.array(z.string()),
  /** True when the runtime's telemetry is switched off in that process. */
  telemetryOff: z.boolean(),
  milliseconds: z.number(),
});
type SelfTestResult = z.infer<typeof selfTestResult>;

interface SelfTestJob {
  readonly steps: number;
  readonly crash?: boolean | undefined;
}

export async function runSelfTest(job: SelfTestJob): Promise<SelfTestResult> {
  const begin = performance.now();
  // The engine is loaded here and not above: a process that cannot load it still answers, with the reason.
  const { Graph } = await import('../engine/graph/graph.ts');
  const { matmul } = await import('../engine/graph/operators.ts');
  const { Session, float, floats, supportedBackends } = await import('../engine/runtime/session.ts');
  const graph = new Graph('self-test');
  graph.output('c', matmul(graph.input('a', 'float32', [1, 3]), graph.input('b', 'float32', [3, 1])));
  const session = await Session.create(graph, { threads: 1 });
  const b = float(Float32Array.of(4, 5, 6), [3, 1]);
  let value = Number.NaN;
  for (let step = 1; step <= job.steps; step++) {
    const { c } = await session.run({ a: float(Float32Array.of(step, 2 * step, 3 * step), [1, 3]), b });
    value = c ? (floats(c)[0] ?? Number.NaN) : Number.NaN;
    if (job.crash) process.abort();
  }
  await session.dispose();
  return {
    value,
    expected: 32 * job.steps, // (1·4 + 2·5 + 3·6) · steps
    backends: [...supportedBackends()],
    telemetryOff: process.env.ORT_DISABLE_TELEMETRY === '1',
    milliseconds: performance.now() - begin,
  };
}
