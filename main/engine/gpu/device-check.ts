// The self-test of a device, a separate program: `device-check <id>` trains a tiny network for a few steps on the CPU and on
// the device, and prints both as one line of JSON. A separate process, because a broken graphics driver aborts the process
// that touches it. The network uses every kind of operator that training does; loss alone would not do: a wrong gradient
// kernel leaves the first loss right (measured: a fused RMSNorm on WebGPU), so gradient norms are compared as well.

import { pathToFileURL } from 'node:url';
import { Random } from '../../base/random.ts';
import { deviceOptions } from './device.ts';
import type { DeviceCheck, Trace } from './device.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import * as op from '../graph/operators.ts';
import { ParameterLayout } from '../graph/parameters.ts';
import type { Parameters } from '../graph/parameters.ts';
import { integer } from '../runtime/session.ts';
import type { SessionOptions } from '../runtime/session.ts';
import { Trainer, freshState } from '../runtime/training-step.ts';
import type { LossAndMetrics } from '../runtime/training-step.ts';

const [ROWS, TIME, WIDTH, HEADS, VOCABULARY] = [2, 5, 8, 2, 11];
const SIZE = WIDTH / HEADS;
const STEPS = 3;

const matrix = (name: string, out: number, inner: number) => ({ name, shape: [out, inner], decay: true, deviation: 1 / Math.sqrt(inner) });
const layout = new ParameterLayout([
  matrix('embedding', VOCABULARY, WIDTH),
  ...['query', 'key', 'value', 'up', 'gate', 'down'].map((name) => matrix(name, WIDTH, WIDTH)),
  { name: 'norm', shape: [WIDTH], decay: false, mean: 1 },
]);

/** One Transformer block and the loss of the next token. */
function network(graph: Graph, p: Parameters): LossAndMetrics {
  const rows = (x: Tensor): Tensor => op.reshape(op.transpose(x, [1, 0]), [TIME * ROWS]);
  const tokens = rows(graph.input('tokens', 'int32', [ROWS, TIME]));
  const targets = rows(graph.input('targets', 'int32', [ROWS, TIME]));
  const linear = (x: Tensor, name: string): Tensor => op.matmul(x, p(name), { transposeB: true });
  const heads = (x: Tensor): Tensor => op.reshape(x, [TIME, ROWS, HEADS, SIZE]);

  const table = (turn: (angle: number) => number): Tensor =>
    graph.constant(
      Float32Array.from({ length: (TIME * SIZE) / 2 }, (_, i) => turn(i / 3)),
      [TIME, SIZE / 2],
    );
  const [cosine, sine] = [table(Math.cos), table(Math.sin)];
  const places = BigInt64Array.from({ length: TIME * ROWS }, (_, i) => BigInt(Math.floor(i / ROWS)));
  const positions = graph.constant(places, [TIME, ROWS], 'int64');
  const turned = (x: Tensor): Tensor => heads(op.rotary(op.reshape(x, [TIME, ROWS, WIDTH]), positions, cosine, sine, HEADS));
  const future = Float32Array.from({ length: TIME * TIME }, (_, i) => (i % TIME > Math.floor(i / TIME) ? -1e9 : 0));

  const x = op.gather(p('embedding'), tokens);
  const normal = op.rmsNorm(x, p('norm'));
  const options = { rowsFirstA: true, rowsFirstB: true, transposeB: true, scale: SIZE ** -0.5 };
  const scores = op.add(
    op.matmul(turned(linear(normal, 'query')), turned(linear(normal, 'key')), options),
    graph.constant(future, [TIME, TIME]),
  );
  const gathered = op.matmul(op.softmax(scores), heads(linear(normal, 'value')), { rowsFirstB: true });
  const attended = op.add(x, op.reshape(op.transpose(gathered, [2, 0, 1, 3]), [TIME * ROWS, WIDTH]));
  const gated = op.mul(op.silu(linear(attended, 'gate')), linear(attended, 'up'));
  const hidden = op.rmsNorm(op.add(attended, linear(gated, 'down')), p('norm'));
  return { loss: op.neg(op.reduceMean(op.pick(op.logSoftmax(linear(hidden, 'embedding')), targets))) };
}

async function trace(session: SessionOptions): Promise<Trace> {
  const random = Random.from('device check');
  const ids = (): Int32Array => Int32Array.from({ length: ROWS * TIME }, () => random.below(VOCABULARY));
  const feeds = { tokens: integer(ids(), [ROWS, TIME]), targets: integer(ids(), [ROWS, TIME]) };
  const trainer = new Trainer({
    layout,
    state: freshState(
      layout,
      layout.initialise(() => random.normal()),
    ),
    session,
  });
  const losses: number[] = [];
  const norms: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const report = await trainer.step([{ key: 'check', build: network, feeds }], 0.02);
    losses.push(report.loss);
    norms.push(report.gradientNorm);
  }
  await trainer.dispose();
  return { losses, norms };
}

/** What a CPU computes, written down where the golden tests against PyTorch passed: a broken CPU or library shows too. */
const RECORDED: Trace = { losses: [3.6354592, 2.9387913, 2.4279246], norms: [3.2798383, 2.5463791, 1.9416949] };

async function checkDevice(id: string): Promise<DeviceCheck> {
  const cpu = id === 'cpu' ? RECORDED : await trace({ threads: 1 });
  const begin = performance.now();
  const device = await trace({ threads: 1, ...deviceOptions(id) });
  return { cpu, device, seconds: (performance.now() - begin) / 1e3 };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const result = await checkDevice(process.argv[2] ?? 'cpu');
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0)); // without waiting for a driver's threads
}
