// Layers with a memory instead of attention: an LSTM of `width` units in place of a Transformer block. Everything before and after (embedding,
// copying aids, final norm, tied logits) is the Transformer's. Gates in the order input, forget, output, candidate; the forget gate starts open.
// Whole sequences are unrolled over time as ordinary operators, with the gradient written as a whole: per step one product forward, one back.

import { at } from '../../base/indexed.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import type { ParameterSpec, Parameters } from '../../engine/graph/parameters.ts';

/** Added to the forget gate, so that a fresh layer remembers. */
const FORGET_BIAS = 1;

const part = (layer: number, name: string): string => `layer.${layer}.lstm.${name}`;

export function lstmParameters(layer: number, width: number): ParameterSpec[] {
  const matrix = (name: string): ParameterSpec => ({
    name: part(layer, name),
    shape: [4 * width, width],
    decay: true,
    deviation: 1 / Math.sqrt(width),
  });
  return [matrix('input'), matrix('recurrent'), { name: part(layer, 'bias'), shape: [4 * width], decay: false, mean: 0 }];
}

/** What the gates get from the layer's input, for all rows at once: [..., width] to [..., 4 · width]. */
function projected(graph: Graph, p: Parameters, layer: number, x: Tensor): Tensor {
  const width = Number(x.shape.at(-1));
  const open = Float32Array.from({ length: 4 * width }, (_, i) => (i >= width && i < 2 * width ? FORGET_BIAS : 0));
  const bias = op.add(p(part(layer, 'bias')), graph.constant(open, [4 * width], 'float32', 'forgetBias'));
  return op.add(op.matmul(x, p(part(layer, 'input')), { transposeB: true }), bias);
}

/** One step of all rows, with what its gradient needs. */
interface Cell {
  readonly hidden: Tensor;
  readonly state: Tensor;
  /** Input, forget and output gate side by side, and apart. */
  readonly gates: Tensor;
  readonly input: Tensor;
  readonly forget: Tensor;
  readonly output: Tensor;
  readonly candidate: Tensor;
  readonly squashed: Tensor;
}

/** `before` is undefined at the beginning, where there is nothing to remember. */
function cell(projection: Tensor, recurrent: Tensor, before: Pick<Cell, 'hidden' | 'state'> | undefined): Cell {
  const width = Number(projection.shape.at(-1)) / 4;
  const sum = before ? op.add(projection, op.matmul(before.hidden, recurrent, { transposeB: true })) : projection;
  const [open = sum, inner = sum] = op.split(sum, [3 * width, width], -1);
  const gates = op.sigmoid(open);
  const candidate = op.tanh(inner);
  const [input = gates, forget = gates, output = gates] = op.split(gates, [width, width, width], -1);
  const fresh = op.mul(input, candidate);
  const state = before ? op.add(op.mul(forget, before.state), fresh) : fresh;
  const squashed = op.tanh(state);
  return { hidden: op.mul(output, squashed), state, gates, input, forget, output, candidate, squashed };
}

const joined = (tensors: readonly Tensor[]): Tensor => op.concat(tensors, 0);

/** A layer over whole sequences, time-major: [time · rows, width] to the same. */
export function lstmLayer(graph: Graph, p: Parameters, layer: number, x: Tensor, rows: number): Tensor {
  const time = at(x.sizes, 0) / rows;
  const recurrent = p(part(layer, 'recurrent'));
  const projection = projected(graph, p, layer, x);
  const sizes = Array.from({ length: time }, () => rows);
  return graph.withGradient('recurrence', [projection, recurrent], () => {
    const cells: Cell[] = [];
    for (const now of op.split(projection, sizes, 0)) cells.push(cell(now, recurrent, cells.at(-1)));
    const output = joined(cells.map(({ hidden }) => hidden));
    return { output, gradients: (dy: Tensor) => recurrenceGradients(cells, recurrent, op.split(dy, sizes, 0)) };
  });
}

/** Backwards through time; `dys` are the gradients of the hidden states from outside. Gives those of the projections and of the recurrent matrix. */
function recurrenceGradients(cells: readonly Cell[], recurrent: Tensor, dys: readonly Tensor[]): readonly Tensor[] {
  const all = (pick: (cell: Cell) => Tensor): Tensor => joined(cells.map(pick));
  const sizes = dys.map((dy) => at(dy.sizes, 0));
  // Derivatives of the gates, of the candidate and of h by c, for all of time at once.
  const gates = all((one) => one.gates);
  const slopes = op.concat([op.mul(gates, op.sub(1, gates)), op.sub(1, op.square(all((one) => one.candidate)))], 1);
  const slopeParts = op.split(slopes, sizes, 0);
  const through = op.mul(
    all((one) => one.output),
    op.sub(1, op.square(all((one) => one.squashed))),
  );
  const throughParts = op.split(through, sizes, 0);

  const projections: Tensor[] = [];
  let carried: { readonly hidden: Tensor; readonly state: Tensor } | undefined;
  for (let t = cells.length - 1; t >= 0; t--) {
    const { input, forget, candidate, squashed } = at(cells, t);
    const before = cells[t - 1];
    const hidden = carried ? op.add(at(dys, t), carried.hidden) : at(dys, t);
    const direct = op.mul(hidden, at(throughParts, t));
    const state = carried ? op.add(direct, carried.state) : direct;
    const forgotten = before ? op.mul(state, before.state) : op.full(state, state.shape, 0);
    const sums = op.mul(
      op.concat([op.mul(state, candidate), forgotten, op.mul(hidden, squashed), op.mul(state, input)], 1),
      at(slopeParts, t),
    );
    projections.push(sums);
    if (before) carried = { hidden: op.matmul(sums, recurrent), state: op.mul(state, forget) };
  }
  projections.reverse();
  const later = projections.slice(1);
  const dRecurrent =
    later.length === 0
      ? op.full(recurrent, recurrent.shape, 0)
      : op.matmul(joined(later), joined(cells.slice(0, -1).map(({ hidden }) => hidden)), { transposeA: true });
  return [joined(projections), dRecurrent];
}

/** A few new tokens x [rows, count, width] on top of the state [rows, 2 · width] before them (hidden and cell side by side, zeros at the beginning). */
export function lstmSteps(
  graph: Graph,
  p: Parameters,
  layer: number,
  x: Tensor,
  state: Tensor,
): { readonly hidden: Tensor; readonly states: Tensor } {
  const [rows = 0, count = 0, size = 0] = x.shape;
  const width = Number(size);
  const recurrent = p(part(layer, 'recurrent'));
  const projection = projected(graph, p, layer, x);
  const [hidden = state, memory = state] = op.split(state, [width, width], -1);
  const ones = Array.from({ length: Number(count) }, () => 1);
  let before: Pick<Cell, 'hidden' | 'state'> = { hidden, state: memory };
  const states = op.split(projection, ones, 1).map((now) => {
    before = cell(op.reshape(now, [rows, 4 * width]), recurrent, before);
    return op.reshape(op.concat([before.hidden, before.state], 1), [rows, 1, 2 * width]);
  });
  const together = op.concat(states, 1); // [rows, count, 2 · width]
  const [outputs = together] = op.split(together, [width, width], -1);
  return { hidden: outputs, states: together };
}
