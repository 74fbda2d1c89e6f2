// Every row of the gradient table against finite differences of the computed function itself, in shapes that catch mistakes:
// plain, stretched to fit (broadcasting), a batch of one, a length of one.

import { afterAll, expect, test } from 'vitest';
import { Graph, elementCount } from '../../main/engine/graph/graph.ts';
import type { Tensor } from '../../main/engine/graph/graph.ts';
import { attention, gated, logProbability } from '../../main/engine/graph/fused.ts';
import { RULES, gradients } from '../../main/engine/graph/gradients.ts';
import * as op from '../../main/engine/graph/operators.ts';
import { Session, float, floats } from '../../main/engine/runtime/session.ts';
import { Random } from '../../main/base/random.ts';

interface Case {
  readonly rule: string;
  readonly shapes: readonly (readonly number[])[];
  readonly build: (graph: Graph, inputs: readonly Tensor[]) => Tensor;
  /** Where the inputs lie; the default stays clear of kinks and poles at 0. */
  readonly draw?: (random: Random, input: number) => number;
  /** Check only every so many numbers. */
  readonly every?: number;
}

const signed = (random: Random): number => (0.3 + random.next()) * (random.next() < 0.5 ? -1 : 1);
const positive = (random: Random): number => 0.5 + random.next();
/** The second input is well above or below the first at every element, whatever the broadcasting. */
const apart = (random: Random, input: number): number => (input === 0 ? 0.4 * random.next() : random.next() < 0.5 ? 1 : -1);

const PAIRS: readonly (readonly [readonly number[], readonly number[]])[] = [
  [
    [2, 3],
    [2, 3],
  ],
  [[2, 3], [3]],
  [
    [3, 1],
    [1, 4],
  ],
  [
    [2, 1, 3],
    [4, 1],
  ],
  [
    [1, 1],
    [2, 3],
  ],
  [[], [2, 2]],
];
const SHAPES = [[2, 3], [1, 4], [4, 1], []] as const;

const [A, B, C] = [0, 1, 2] as const;
const at = (inputs: readonly Tensor[], index: number): Tensor => {
  const tensor = inputs[index];
  if (!tensor) throw new Error(`the case has no input ${index}`);
  return tensor;
};
const binary = (rule: string, f: (a: Tensor, b: Tensor) => Tensor, draw?: Case['draw']): Case[] =>
  PAIRS.map((shapes) => ({ rule, shapes, build: (_, x) => f(at(x, A), at(x, B)), ...(draw ? { draw } : {}) }));
const unary = (rule: string, f: (x: Tensor) => Tensor, draw?: Case['draw'], shapes: readonly (readonly number[])[] = SHAPES): Case[] =>
  shapes.map((shape) => ({ rule, shapes: [shape], build: (_, x) => f(at(x, A)), ...(draw ? { draw } : {}) }));

const matmuls = [false, true].flatMap((transposeA) =>
  [false, true].flatMap((transposeB) => {
    const flip = ([m, n]: readonly [number, number], turned: boolean): number[] => (turned ? [n, m] : [m, n]);
    return [
      [[], [], 3, 4, 2],
      [[2], [2], 3, 1, 2],
      [[2], [], 1, 3, 2],
      [[], [3], 2, 2, 1],
      [[2, 1], [1, 3], 2, 3, 2],
    ].map(([left, right, m, k, n]): Case => {
      if (typeof left !== 'object' || typeof right !== 'object' || typeof m !== 'number' || typeof k !== 'number' || typeof n !== 'number')
        throw new Error('bad case');
      const shapes = [
        [...left, ...flip([m, k], transposeA)],
        [...right, ...flip([k, n], transposeB)],
      ];
      return { rule: 'MatMul', shapes, build: (_, x) => op.matmul(at(x, A), at(x, B), { transposeA, transposeB, scale: 0.7 }) };
    });
  }),
);
const rowsFirst: Case[] = [
  {
    rule: 'MatMul',
    shapes: [
      [4, 2, 3, 5],
      [6, 2, 3, 5],
    ],
    build: (_, x) => op.matmul(at(x, A), at(x, B), { rowsFirstA: true, rowsFirstB: true, transposeB: true, scale: 0.5 }),
  },
  {
    rule: 'MatMul',
    shapes: [
      [2, 3, 4, 6],
      [6, 2, 3, 5],
    ],
    build: (_, x) => op.matmul(at(x, A), at(x, B), { rowsFirstB: true }),
  },
  {
    rule: 'MatMul',
    shapes: [
      [1, 2, 3],
      [4, 1, 3],
    ],
    build: (_, x) => op.matmul(at(x, A), at(x, B), { rowsFirstB: true, transposeB: true }),
  },
];

const indices = (graph: Graph, values: readonly number[], shape: readonly number[]): Tensor =>
  graph.constant(Int32Array.from(values), shape);

const CASES: readonly Case[] = [
  ...binary('Add', op.add),
  ...binary('Sub', op.sub),
  ...binary('Mul', op.mul),
  ...unary('Mul', op.square),
  ...binary('Div', op.div, positive),
  ...binary('Min', op.minimum, apart),
  ...binary('Max', op.maximum, apart),
  ...unary('Neg', op.neg),
  ...unary('Exp', op.exp),
  ...unary('Log', op.log, positive),
  ...unary('Sqrt', op.sqrt, positive),
  ...unary('Abs', op.abs),
  ...unary('Reciprocal', op.reciprocal, positive),
  ...unary('Sigmoid', op.sigmoid),
  ...unary('Tanh', op.tanh),
  ...unary('Relu', op.relu),
  ...unary('Silu', op.silu),
  ...PAIRS.map((shapes): Case => ({
    rule: 'Where',
    shapes,
    build: (graph, x) => op.where(graph.constant(Uint8Array.of(1, 0, 1), [3, 1, 1, 1], 'bool'), at(x, A), at(x, B)),
  })),
  ...matmuls,
  ...rowsFirst,
  ...unary('Reshape', (x) => op.square(op.reshape(x, [elementCount(x.shape), 1]))),
  ...unary('Transpose', (x) => op.transpose(x, [2, 0, 1]), undefined, [
    [2, 3, 4],
    [1, 1, 2],
  ]),
  ...unary('Slice', (x) => op.slice(x, 1, 1, 3), undefined, [
    [2, 4],
    [1, 3],
  ]),
  ...unary('Split', (x) => op.mul(at(op.split(x, [1, 2], 1), 1), 3), undefined, [
    [2, 3],
    [1, 3, 2],
  ]),
  {
    rule: 'Concat',
    shapes: [
      [2, 1],
      [2, 3],
      [2, 2],
    ],
    build: (_, x) => op.concat([at(x, A), at(x, B), at(x, C)], 1),
  },
  { rule: 'Expand', shapes: [[2, 1]], build: (_, x) => op.expand(at(x, A), [3, 2, 4]) },
  { rule: 'Gather', shapes: [[3, 2]], build: (graph, x) => op.gather(at(x, A), indices(graph, [0, 2, 2, 2, 0], [5])) },
  { rule: 'Gather', shapes: [[2]], build: (graph, x) => op.gather(at(x, A), indices(graph, [1, 1], [2, 1])) },
  { rule: 'GatherElements', shapes: [[2, 3]], build: (graph, x) => op.pick(at(x, A), indices(graph, [2, 0], [2])) },
  { rule: 'GatherElements', shapes: [[1, 2, 1]], build: (graph, x) => op.pick(at(x, A), indices(graph, [0, 0], [1, 2])) },
  {
    rule: 'ScatterND',
    shapes: [
      [3, 2],
      [2, 2],
    ],
    build: (graph, x) => op.scatterRows(at(x, A), indices(graph, [2, 0], [2]), at(x, B)),
  },
  {
    rule: 'ScatterND',
    shapes: [
      [3, 2],
      [2, 2],
    ],
    build: (graph, x) => op.scatterRows(at(x, A), indices(graph, [1, 1], [2]), at(x, B), 'add'),
  },
  ...[false, true].flatMap((keep) => [
    ...unary('ReduceSum', (x) => op.reduceSum(x, [1], keep), undefined, [
      [2, 3],
      [4, 1, 2],
    ]),
    ...unary('ReduceMean', (x) => op.reduceMean(x, [0, 1], keep), undefined, [
      [2, 3],
      [4, 1, 2],
    ]),
    ...unary('ReduceMax', (x) => op.reduceMax(x, [0], keep), undefined, [
      [3, 1],
      [1, 2],
    ]),
  ]),
  ...unary('Softmax', op.softmax, undefined, [
    [2, 3],
    [1, 4],
    [3, 1],
  ]),
  ...unary('LogSoftmax', op.logSoftmax, undefined, [
    [2, 3],
    [1, 4],
    [3, 1],
  ]),
  ...unary('Normalise', (x) => op.normalise(x), undefined, [
    [2, 4],
    [1, 3],
    [2, 1, 2],
  ]),
  ...[
    [2, 4],
    [1, 3],
    [2, 1, 2],
  ].map((shape): Case => ({ rule: 'RMSNorm', shapes: [shape, shape.slice(-1)], build: (_, x) => op.rmsNorm(at(x, A), at(x, B)) })),
  ...[
    [2, 3],
    [1, 1],
  ].map(([batch = 1, time = 1]): Case => ({
    rule: 'Rotary',
    shapes: [[batch, time, 8]],
    build: (graph, x) => {
      const angles = Float32Array.from({ length: 8 }, (_, i) => i * 0.4);
      const positions = graph.constant(
        BigInt64Array.from({ length: batch * time }, (_, i) => BigInt((i * 3) % 4)),
        [batch, time],
      );
      const table = (f: (angle: number) => number): Tensor => graph.constant(angles.map(f), [4, 2]);
      return op.rotary(at(x, A), positions, table(Math.cos), table(Math.sin), 2);
    },
  })),
  ...unary('Cast', (x) => op.cast(op.cast(x, 'float16'), 'float32')),
];

/** Compositions with an explicit gradient. */
const FUSED: readonly Case[] = [
  ...[
    [1, 1, 1, 2],
    [5, 2, 2, 3],
  ].map((shape): Case => ({
    rule: 'attention',
    shapes: [shape, shape, shape],
    build: (_, x) => attention(at(x, A), at(x, B), at(x, C), 0.6),
  })),
  // Long enough to be cut into blocks; one number in 17 is checked.
  {
    rule: 'attention',
    shapes: [
      [193, 1, 1, 1],
      [193, 1, 1, 1],
      [193, 1, 1, 1],
    ],
    build: (_, x) => attention(at(x, A), at(x, B), at(x, C), 1),
    every: 17,
  },
  ...SHAPES.map((shape): Case => ({ rule: 'gated', shapes: [shape, shape], build: (_, x) => gated(at(x, A), at(x, B)) })),
  { rule: 'logProbability', shapes: [[3, 4]], build: (graph, x) => logProbability(at(x, A), indices(graph, [2, 0, 3], [3])) },
  { rule: 'logProbability', shapes: [[1, 1]], build: (graph, x) => logProbability(at(x, A), indices(graph, [0], [1])) },
];

const opened: Session[] = [];
afterAll(async () => {
  for (const session of opened) await session.dispose();
});

const withRules = Object.keys(RULES);
const tested = [...new Set(CASES.map(({ rule }) => rule))];
const UNDIFFERENTIABLE = ['StopGradient', 'Less', 'LessOrEqual', 'Greater', 'Equal', 'And'];

test('every rule of the table is checked below', () => {
  expect(withRules.filter((name) => !tested.includes(name)).toSorted()).toEqual(UNDIFFERENTIABLE.toSorted());
});

test.each(tested)('the gradient of %s equals finite differences', async (rule) => {
  const cases = CASES.filter((entry) => entry.rule === rule);
  expect(cases.length).toBeGreaterThan(0);
  for (const entry of cases) await check(entry);
});

test.each([...new Set(FUSED.map(({ rule }) => rule))])('the gradient of the composition %s equals finite differences', async (rule) => {
  for (const entry of FUSED.filter((candidate) => candidate.rule === rule)) await check(entry);
});

test.each([
  { time: 200, blocks: 3, digits: 4, look: [0, 1, 65, 66, 67, 133, 199] },
  { time: 2600, blocks: 6, digits: 2, look: [0, 1, 432, 433, 434, 2165, 2166, 2167, 2599] },
])('attention over $time positions, cut into $blocks blocks, sees exactly what is not ahead', async ({ time, blocks, digits, look }) => {
  const graph = new Graph('blocks');
  const shape = [time, 1, 1, 2];
  const [q, k, v] = ['q', 'k', 'v'].map((name) => graph.input(name, 'float32', shape));
  if (!q || !k || !v) throw new Error('three inputs are declared');
  graph.output('y', op.add(attention(q, k, v, 1), attention(q, k, v, 1)));
  // The second attention uses the masks of the first.
  expect(graph.constants.filter(({ name }) => name.includes('causal'))).toHaveLength(blocks);
  const zeros = float(new Float32Array(2 * time), shape);
  const numbers = float(
    Float32Array.from({ length: 2 * time }, (_, i) => Math.floor(i / 2)),
    shape,
  );
  const { y } = await (await create(graph)).run({ q: zeros, k: zeros, v: numbers });
  // Equal scores: the mean of 0 … t is t / 2.
  for (const t of look) expect(floats(y!)[2 * t]! / 2).toBeCloseTo(t / 2, digits);
});

test('gradients stop where detached, and are zero where the loss does not depend on a tensor', async () => {
  const graph = new Graph('stop');
  const x = graph.input('x', 'float32', [2]);
  const y = graph.input('y', 'float32', [3]);
  const [dx, dy] = gradients(op.reduceSum(op.mul(op.stopGradient(x), x)), [x, y]);
  if (!dx || !dy) throw new Error('two gradients are due');
  graph.output('dx', dx);
  graph.output('dy', dy);
  const session = await create(graph);
  const result = await session.run({ x: float(Float32Array.of(2, 5), [2]), y: float(new Float32Array(3), [3]) });
  expect([...floats(result.dx!)]).toEqual([2, 5]);
  expect([...floats(result.dy!)]).toEqual([0, 0, 0]);
});

test('a tensor used in several places gets the sum of its gradients', async () => {
  const graph = new Graph('sum');
  const x = graph.input('x', 'float32', []);
  const [dx] = gradients(op.add(op.mul(x, 3), op.add(op.square(x), op.exp(op.mul(x, 0)))), [x]);
  if (!dx) throw new Error('one gradient is due');
  graph.output('dx', dx);
  const result = await (await create(graph)).run({ x: float(Float32Array.of(4), []) });
  expect([...floats(result.dx!)]).toEqual([11]);
});

/** Embedding gradients add up tens of thousands of rows. The runtime's kernel loses some of them as soon as two threads share the work. */
test.each([1, 2])('ten thousand rows scattered onto three add up exactly, with %i threads', async (threads) => {
  const graph = new Graph('scatter');
  const table = graph.input('table', 'float32', [3, 128]);
  const ones = graph.input('ones', 'float32', [10_000, 128]); // an input, so that the sum is not worked out beforehand
  const many = Int32Array.from({ length: 10_000 }, (_, i) => i % 3);
  const [gradient] = gradients(op.reduceSum(op.mul(op.gather(table, graph.constant(many, [10_000])), ones)), [table]);
  if (!gradient) throw new Error('one gradient is due');
  graph.output('gradient', gradient);
  const session = await create(graph, threads);
  const feeds = { table: float(new Float32Array(384), [3, 128]), ones: float(new Float32Array(1_280_000).fill(1), [10_000, 128]) };
  for (let turn = 0; turn < 20; turn++) {
    const result = await session.run(feeds);
    expect([...new Set(floats(result.gradient!))].toSorted()).toEqual([3333, 3334]);
  }
});

async function create(graph: Graph, threads = 1): Promise<Session> {
  const session = await Session.create(graph, { threads });
  opened.push(session);
  return session;
}

async function check({ rule, shapes, build, draw = signed, every = 1 }: Case): Promise<void> {
  const random = Random.from('gradient check', rule, shapes.length);
  const graph = new Graph(rule);
  const inputs = shapes.map((shape, i) => graph.input(`x${i}`, 'float32', shape));
  const y = build(graph, inputs);
  const weights = graph.constant(
    Float32Array.from({ length: elementCount(y.shape) }, () => signed(random)),
    y.shape,
  );
  const loss = op.reduceSum(op.mul(y, weights));
  graph.output('weighted', op.mul(y, weights));
  for (const [i, gradient] of gradients(loss, inputs).entries()) graph.output(`d${i}`, gradient);
  const session = await create(graph);

  const values = shapes.map((shape, i) => Float32Array.from({ length: elementCount(shape) }, () => draw(random, i)));
  const feeds = (): Record<string, ReturnType<typeof float>> =>
    Object.fromEntries(shapes.map((shape, i) => [`x${i}`, float(values[i] ?? new Float32Array(), shape)]));
  const lossAt = async (): Promise<number> =>
    floats((await session.run(feeds(), { weighted: null })).weighted!).reduce((sum, x) => sum + x, 0);
  const analytic = await session.run(feeds());
  const h = rule === 'Cast' ? 0.125 : 0.04;
  const tolerance = rule === 'Cast' ? 0.02 : 1e-3;
  for (const [i, data] of values.entries()) {
    const gradient = floats(analytic[`d${i}`]!);
    for (let j = 0; j < data.length; j += every) {
      const x = data[j] ?? 0;
      const shifted: number[] = [];
      for (const step of [1, -1, 2, -2]) {
        data[j] = x + step * h;
        shifted.push(await lossAt());
      }
      data[j] = x;
      const [up = 0, down = 0, up2 = 0, down2 = 0] = shifted;
      const numeric = (8 * (up - down) - (up2 - down2)) / (12 * h);
      const scale = Math.max(1, Math.abs(numeric));
      expect(
        Math.abs(numeric - (gradient[j] ?? Number.NaN)) / scale,
        `${rule} ${JSON.stringify(shapes)}: d/dx${i}[${j}] ${gradient[j]} against ${numeric}`,
      ).toBeLessThan(tolerance);
    }
  }
}
