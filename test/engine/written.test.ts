// Results that are written into given values: the same numbers as returned ones, and errors are still errors.

import { describe, expect, it, test } from 'vitest';
import { Graph } from '../../main/engine/graph/graph.ts';
import { namedParts } from '../../main/engine/runtime/host-state.ts';
import { laneNumber } from '../../main/engine/runtime/lanes.ts';
import { sharedNumbers } from '../../main/engine/runtime/shared-memory.ts';
import { gather, mul } from '../../main/engine/graph/operators.ts';
import { Session, float, floats, integer } from '../../main/engine/runtime/session.ts';
import { gradientGraph, takesApart } from '../../main/engine/graph/training-graphs.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import { stepCase } from '../bench/step-case.ts';

const MODEL = {
  gate: 'swiglu',
  valueHead: false,
  aids: { matchFlag: false, pointer: false, tokenShift: 0 },
  vocabulary: 600,
  width: 96,
  layers: 2,
  heads: 2,
  feedForward: 256,
  contextLength: 24,
} as const;

/** Twice the rows of a table that `rows` names. */
function twiceTheRows(): Graph {
  const graph = new Graph('twice');
  graph.output('twice', mul(gather(graph.input('table', 'float32', [4, 2]), graph.input('rows', 'int32', [3])), 2));
  return graph;
}

describe.each([['this thread', undefined] as const, ['a lane', 0] as const])('a session in %s', (_name, number) => {
  const lane = number === undefined ? undefined : laneNumber(number);
  const table = float(
    sharedNumbers(8).map((_, i) => i),
    [4, 2],
  );
  const rows = (...which: number[]) => integer(Int32Array.from(which), [which.length]);

  it('writes what it would return, each time', async () => {
    const session = await Session.create(twiceTheRows(), { threads: 1, lane });
    const numbers = sharedNumbers(6);
    for (const [which, expected] of [
      [rows(0, 3, 1), [0, 2, 12, 14, 4, 6]],
      [rows(2, 2, 0), [8, 10, 8, 10, 0, 2]],
    ] as const) {
      const results = await session.run({ table, rows: which }, { twice: float(numbers, [3, 2]) });
      expect([...numbers]).toEqual(expected);
      expect(results.twice?.data).toBe(numbers);
    }
    await session.dispose();
  });

  it('says what went wrong in a run', async () => {
    const session = await Session.create(twiceTheRows(), { threads: 1, lane });
    const run = session.run({ table, rows: rows(0, 4, 1) }, { twice: float(sharedNumbers(6), [3, 2]) });
    await expect(run).rejects.toThrow('"twice" failed');
    await session.dispose();
  });

  it('returns the results that no value was given for', async () => {
    const graph = twiceTheRows();
    graph.output('fourfold', mul(graph.outputs.get('twice') ?? graph.scalar(0), 2));
    const session = await Session.create(graph, { threads: 1, lane });
    const numbers = sharedNumbers(6);
    const results = await session.run({ table, rows: rows(3, 1, 0) }, { twice: float(numbers, [3, 2]), fourfold: null });
    expect([...numbers]).toEqual([12, 14, 4, 6, 0, 2]);
    expect(results.twice?.data).toBe(numbers);
    expect(results.fourfold && [...floats(results.fourfold)]).toEqual([24, 28, 8, 12, 0, 4]);
    await session.dispose();
  });
});

test('a session in a lane refuses to write where only this thread could see it', async () => {
  const session = await Session.create(twiceTheRows(), { threads: 1, lane: laneNumber(0) });
  const feeds = { table: float(sharedNumbers(8), [4, 2]), rows: integer(Int32Array.of(0, 1, 2), [3]) };
  await expect(session.run(feeds, { twice: float(new Float32Array(6), [3, 2]) })).rejects.toThrow('needs a value in shared memory');
  await session.dispose();
});

test('a model large enough to name every parameter has the very gradients of one that is given two vectors', async () => {
  const layout = modelLayout(MODEL);
  expect(takesApart(layout)).toBe(true);
  const { trainer, batches } = stepCase(MODEL, 3, 24, { threads: 1 }, 3);
  const [batch] = batches;
  if (!batch) throw new Error('There is one micro-batch');
  const { values } = await trainer.download();
  const found = [];
  for (const apart of [false, true]) {
    const session = await Session.create(gradientGraph(batch, layout, apart).graph, { threads: 1 });
    const gradients = layout.zeros();
    const feeds = { ...batch.feeds, ...namedParts(layout, values, 'values', apart) };
    const { report } = await session.run(feeds, { ...namedParts(layout, gradients, 'gradient', apart), report: null });
    found.push({ loss: report && floats(report)[0], ...gradients });
    await session.dispose();
  }
  expect(found[0]?.decay.some((x) => x !== 0)).toBe(true);
  expect(found[1]).toEqual(found[0]);
  await trainer.dispose();
});

test('two threads side by side train a model of 300,000 parameters to the very weights of one thread', async () => {
  const weights: Float32Array[] = [];
  for (const threads of [1, 2]) {
    const { trainer, batches } = stepCase(MODEL, 9, 24, { threads }, 3);
    for (let step = 0; step < 4; step++) await trainer.step(batches, 1e-2);
    weights.push((await trainer.download()).values.decay);
    await trainer.dispose();
  }
  expect(weights[1]).toEqual(weights[0]);
});
