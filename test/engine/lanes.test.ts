// Micro-batches side by side: the same numbers as one after the other, work shared out evenly, errors when all have ended.

import { expect, test } from 'vitest';
import { Graph } from '../../main/engine/graph/graph.ts';
import { inLanes, sideBySide } from '../../main/engine/runtime/lane-shares.ts';
import { laneNumber } from '../../main/engine/runtime/lanes.ts';
import { mul } from '../../main/engine/graph/operators.ts';
import { SessionCache } from '../../main/engine/runtime/session-cache.ts';
import { Session, float, floats } from '../../main/engine/runtime/session.ts';
import { stepCase } from '../bench/step-case.ts';

const MODEL = {
  gate: 'swiglu',
  valueHead: false,
  aids: { matchFlag: false, pointer: false, tokenShift: 0 },
  vocabulary: 40,
  width: 32,
  layers: 2,
  heads: 2,
  feedForward: 48,
  contextLength: 24,
} as const;

test('two threads side by side train to the very weights of one thread', async () => {
  const weights: Float32Array[] = [];
  for (const threads of [1, 2]) {
    const { trainer, batches } = stepCase(MODEL, 12, 24, { threads }, 3);
    expect(batches).toHaveLength(4);
    for (let step = 0; step < 5; step++) await trainer.step(batches, 1e-2);
    weights.push((await trainer.download()).values.decay);
    await trainer.dispose();
  }
  expect(weights[1]).toEqual(weights[0]);
});

test('every lane rounds denormal numbers to zero, as the thread that asks does', async () => {
  for (const lane of [0, 1, undefined]) {
    const graph = new Graph('denormal');
    graph.output('y', mul(graph.input('x', 'float32', [1]), 1e-10));
    const session = await Session.create(graph, { threads: 1, lane: lane === undefined ? undefined : laneNumber(lane) });
    const { y } = await session.run({ x: float(Float32Array.of(1e-30), [1]) });
    expect(y && [...floats(y)]).toEqual([0]);
    await session.dispose();
  }
});

test('a step whose second micro-batch has a wrong feed fails, and the next one is right', async () => {
  const { trainer, batches } = stepCase(MODEL, 6, 24, { threads: 2 }, 3);
  const [first, second] = batches;
  if (!first || !second) throw new Error('There are two micro-batches');
  const { tokens: _, ...feeds } = second.feeds;
  await expect(trainer.step([first, { ...second, feeds }], 1e-2)).rejects.toThrow('needs the input "tokens"');
  expect((await trainer.step(batches, 1e-2)).loss).toBeGreaterThan(3);
  await trainer.dispose();
});

test.each([
  [
    [1, 1, 1, 1],
    ['a', 'a', 'a', 'a'],
    [
      [0, 2],
      [1, 3],
    ],
  ],
  [
    [1, 1, 1, 1],
    ['a', 'b', 'a', 'b'],
    [
      [0, 2],
      [1, 3],
    ],
  ],
  [
    [4, 1, 1, 1, 1],
    ['a', 'b', 'b', 'b', 'b'],
    [[0], [1, 2, 3, 4]],
  ],
  [[1], ['a'], [[], [0]]],
])('pieces that cost %j with keys %j are shared out as %j', (costs, keys, expected) => {
  const pieces = costs.map((cost, i) => ({ cost, key: keys[i] ?? '' }));
  expect(inLanes(pieces, 2)).toEqual(expected);
});

test('results come in the order of the pieces, whichever is ready first', async () => {
  const order: number[] = [];
  const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
  await sideBySide({
    pieces: [30, 1, 1, 1].map((cost) => ({ key: 'a', cost: cost / cost })),
    lanes: 2,
    compute: async (index) => {
      await wait(index === 0 ? 30 : 1);
      return index;
    },
    done: (result) => order.push(result),
  });
  expect(order).toEqual([0, 1, 2, 3]);
});

test('an error is passed on when everything under way has ended', async () => {
  let running = 0;
  const work = sideBySide({
    pieces: [0, 1, 2, 3].map(() => ({ key: 'a', cost: 1 })),
    lanes: 2,
    compute: async (index) => {
      running++;
      await new Promise((resolve) => setTimeout(resolve, index === 2 ? 1 : 20));
      running--;
      if (index === 2) throw new Error('broken');
    },
    done: () => {},
  });
  await expect(work).rejects.toThrow('broken');
  expect(running).toBe(0);
});

test('a session in use is not given up for another one', async () => {
  const gone: string[] = [];
  const cache = new SessionCache<{ name: string; dispose(): Promise<void> }>(1);
  const planned = (name: string) => () => ({ bytes: 1, create: async () => ({ name, dispose: async () => void gone.push(name) }) });
  await cache.use('a', planned('a'), async () => {
    await cache.get('b', planned('b'));
    expect(gone).toEqual([]);
  });
  await cache.get('c', planned('c'));
  expect(gone).toEqual(['a']);
});
