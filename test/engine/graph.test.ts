// Building and running graphs: mistakes are reported where they are made, and what is written is ONNX that computes the right numbers.

import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, expect, test } from 'vitest';
import { Graph } from '../../main/engine/graph/graph.ts';
import type { Tensor } from '../../main/engine/graph/graph.ts';
import { ModelSchema } from '../../main/engine/graph/onnx-schema.ts';
import { encode } from '../../main/engine/graph/onnx.ts';
import { peakBytes } from '../../main/engine/graph/memory.ts';
import * as op from '../../main/engine/graph/operators.ts';
import { OutOfMemoryError } from '../../main/engine/runtime/errors.ts';
import { Session, float, floats, value } from '../../main/engine/runtime/session.ts';

const opened: Session[] = [];
afterAll(async () => {
  for (const session of opened) await session.dispose();
});

async function open(graph: Graph): Promise<Session> {
  const session = await Session.create(graph, { threads: 1 });
  opened.push(session);
  return session;
}

const MISTAKES: readonly [string, (graph: Graph, a: Tensor, b: Tensor) => unknown, string][] = [
  ['shapes that do not fit', (_, a, b) => op.add(a, b), 'Add "layer/Add": shapes [2, 3] and [4] do not fit'],
  [
    'inner dimensions that differ',
    (_, a) => op.matmul(a, a),
    'MatMul "layer/MatMul": inner dimensions 3 and 2 differ in "a" float32[2, 3] × "a" float32[2, 3]',
  ],
  ['types that differ', (graph, a) => op.mul(a, graph.scalar(1, 'int32')), 'Mul "layer/Mul" needs two tensors of one type'],
  ['a reshape that loses elements', (_, a) => op.reshape(a, [5]), '"a" float32[2, 3] cannot take the shape [5]'],
  ['a slice out of range', (_, a) => op.slice(a, 1, 2, 5), 'Slice "layer/Slice": 2…5 is not inside axis 1'],
  ['an axis that is not there', (_, a) => op.reduceSum(a, [2]), 'has no axis 2'],
  ['parts that do not add up', (_, a) => op.split(a, [1, 1], 1), 'parts [1, 1] add up to 2, but axis 1 of "a" float32[2, 3] has 3'],
  ['an order that is none', (_, a) => op.transpose(a, [0, 0]), '[0, 0] is not an order of the 2 dimensions'],
  ['indices that are not whole', (_, a) => op.gather(a, a), 'needs whole-number indices'],
  ['a constant of the wrong length', (graph) => graph.constant(Float32Array.of(1, 2), [3]), 'has 2 values, but shape [3] holds 3'],
  ['two inputs of one name', (graph) => graph.input('a', 'float32', [1]), 'already has an input "a"'],
  [
    'a tensor of another graph',
    (_, a) => op.add(a, new Graph('other').input('c', 'float32', [2, 3])),
    'belongs to another graph ("other")',
  ],
];

test.each(MISTAKES)('%s are refused with the node and its shapes', (_name, build, message) => {
  const graph = new Graph('mistakes');
  const a = graph.input('a', 'float32', [2, 3]);
  const b = graph.input('b', 'float32', [4]);
  expect(() => graph.scope('layer', () => build(graph, a, b))).toThrow(message);
});

test('a written model has readable names, declared shapes and only the nodes an output needs', () => {
  const graph = new Graph('readable');
  const x = graph.input('x', 'float32', ['batch', 4]);
  const y = graph.scope('layer.0', () =>
    graph.scope('attention', () =>
      op.relu(op.matmul(x, graph.constant(new Float32Array(8), [2, 4], 'float32', 'weight'), { transposeB: true })),
    ),
  );
  op.exp(y);
  graph.output('y', y);
  const model = fromBinary(ModelSchema, encode(graph));
  expect(model.graph?.node.map(({ opType, output }) => `${opType} ${output.join()}`)).toEqual(['Gemm layer.0/attention/MatMul', 'Relu y']);
  expect(model.graph?.initializer.map(({ name, dims }) => [name, dims])).toEqual([['layer.0/attention/constant/weight', [2n, 4n]]]);
  expect(model.graph?.input[0]?.type?.tensorType?.shape?.dim.map(({ dimParam, dimValue }) => dimParam || dimValue)).toEqual(['batch', 4n]);
});

test('run-time dimensions take any size', async () => {
  const graph = new Graph('any size');
  const x = graph.input('x', 'float32', ['rows', 2, 3]);
  graph.output('sum', op.reduceSum(op.reshape(x, ['rows', 6]), [1]));
  const session = await open(graph);
  for (const rows of [1, 5]) {
    const { sum } = await session.run({ x: float(new Float32Array(rows * 6).fill(0.5), [rows, 2, 3]) });
    expect([...floats(sum!)]).toEqual(Array.from({ length: rows }, () => 3));
  }
});

test('the spelling for GPUs computes the same numbers', async () => {
  const graph = new Graph('spellings');
  const x = graph.input('x', 'float32', [3, 2, 4]);
  const gain = graph.input('gain', 'float32', [4]);
  graph.output('norm', op.rmsNorm(x, gain));
  graph.output('silu', op.silu(x));
  graph.output('scores', op.matmul(x, x, { rowsFirstA: true, rowsFirstB: true, transposeB: true, scale: 0.5 }));
  graph.output(
    'parts',
    op.concat(
      op
        .split(
          op.reshape(x, [24]),
          Array.from({ length: 12 }, () => 2),
          0,
        )
        .toReversed(),
      0,
    ),
  );
  const feeds = {
    x: float(
      Float32Array.from({ length: 24 }, (_, i) => Math.sin(i)),
      [3, 2, 4],
    ),
    gain: float(Float32Array.of(1, 2, 3, 4), [4]),
  };
  const cpu = await (await open(graph)).run(feeds);
  const spelled = await Session.create(graph, { threads: 1, target: 'gpu' });
  opened.push(spelled);
  const gpu = await spelled.run(feeds);
  for (const name of graph.outputs.keys()) {
    const expected = [...floats(cpu[name]!)];
    for (const [i, number] of floats(gpu[name]!).entries()) expect(number).toBeCloseTo(expected[i] ?? Number.NaN, 5);
  }
});

test('a wrong feed is refused with what was expected and what was found', async () => {
  const graph = new Graph('feeds');
  graph.output('y', op.exp(graph.input('x', 'float32', [2])));
  const session = await open(graph);
  await expect(session.run({})).rejects.toThrow('"feeds" needs the input "x" float32[2], but it was not given');
  await expect(session.run({ x: float(new Float32Array(3), [3]) })).rejects.toThrow('needs the input "x" as float32[2], found float32[3]');
  await expect(session.run({ x: value('int32', new Int32Array(2), [2]) })).rejects.toThrow('found int32[2]');
});

test('too large a graph is refused before anything is allocated, and says which tensors to make smaller', async () => {
  const graph = new Graph('too large');
  const x = graph.input('x', 'float32', [1]);
  graph.output('y', op.reduceSum(op.exp(op.expand(x, [3_000_000, 1_000_000])), [0, 1]));
  const failure = await Session.create(graph).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OutOfMemoryError);
  expect(String(failure)).toContain('Not enough memory for "too large": about 24,000,001 MB are needed');
  expect(String(failure)).toContain('Largest tensors: "Expand" [3000000, 1000000] 12,000,000 MB, "Exp" [3000000, 1000000] 12,000,000 MB');
});

test('the estimate of memory counts what is alive at once', () => {
  const graph = new Graph('alive');
  const x = graph.input('x', 'float32', [1000]);
  let y: Tensor = x;
  for (let i = 0; i < 5; i++) y = op.reshape(op.exp(y), [1000]);
  graph.output('y', op.add(y, x));
  expect(peakBytes(graph)).toBe(3 * 4000);
});

test('a session that was disposed says so', async () => {
  const graph = new Graph('gone');
  graph.output('y', op.exp(graph.input('x', 'float32', [1])));
  const session = await open(graph);
  await session.dispose();
  await session.dispose();
  await expect(session.run({ x: float(new Float32Array(1), [1]) })).rejects.toThrow('was disposed');
});
