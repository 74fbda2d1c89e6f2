// The operators as plain functions: each checks what it is given, works out the result's shape and adds one node.
// Where a number stands for a tensor (`mul(x, 2)`), it becomes a scalar constant of the other side's type.
// Sections: element by element · matrices · moving data · reductions and normalisation · a few compositions.

import { at } from '../../base/indexed.ts';
import { GraphError, elementCount, showShape } from './graph.ts';
import type { Attributes, DType, Dimension, Shape, Tensor } from './graph.ts';

export type Operand = Tensor | number;

// ── element by element ───────────────────────────────────────────────────────────────────────────────────────────

export const add = (a: Operand, b: Operand): Tensor => binary('Add', a, b);
export const sub = (a: Operand, b: Operand): Tensor => binary('Sub', a, b);
export const mul = (a: Operand, b: Operand): Tensor => binary('Mul', a, b);
export const div = (a: Operand, b: Operand): Tensor => binary('Div', a, b);
export const minimum = (a: Operand, b: Operand): Tensor => binary('Min', a, b);
export const maximum = (a: Operand, b: Operand): Tensor => binary('Max', a, b);
export const clip = (x: Tensor, low: Operand, high: Operand): Tensor => minimum(maximum(x, low), high);

export const less = (a: Operand, b: Operand): Tensor => binary('Less', a, b, 'bool');
export const lessOrEqual = (a: Operand, b: Operand): Tensor => binary('LessOrEqual', a, b, 'bool');
export const greater = (a: Operand, b: Operand): Tensor => binary('Greater', a, b, 'bool');
export const equal = (a: Operand, b: Operand): Tensor => binary('Equal', a, b, 'bool');
export const both = (a: Tensor, b: Tensor): Tensor => binary('And', a, b, 'bool');

export const neg = (x: Tensor): Tensor => unary('Neg', x);
export const exp = (x: Tensor): Tensor => unary('Exp', x);
export const log = (x: Tensor): Tensor => unary('Log', x);
export const sqrt = (x: Tensor): Tensor => unary('Sqrt', x);
export const abs = (x: Tensor): Tensor => unary('Abs', x);
export const reciprocal = (x: Tensor): Tensor => unary('Reciprocal', x);
export const sigmoid = (x: Tensor): Tensor => unary('Sigmoid', x);
export const tanh = (x: Tensor): Tensor => unary('Tanh', x);
export const relu = (x: Tensor): Tensor => unary('Relu', x);
/** x · sigmoid(x), also called swish. */
export const silu = (x: Tensor): Tensor => unary('Silu', x);
export const square = (x: Tensor): Tensor => mul(x, x);
/** The same value, through which no gradient flows. */
export const stopGradient = (x: Tensor): Tensor => unary('StopGradient', x);

export function cast(x: Tensor, dtype: DType): Tensor {
  if (x.dtype === dtype) return x;
  return one(x, 'Cast', [x], x.shape, { to: dtype }, dtype);
}

export function where(condition: Tensor, yes: Operand, no: Operand): Tensor {
  const [a, b] = operands('Where', yes, no);
  const place = a.graph.place('Where');
  if (condition.dtype !== 'bool') throw new GraphError(`${place} needs a bool condition, found ${condition}`);
  return one(a, 'Where', [condition, a, b], broadcast(place, condition.shape, broadcast(place, a.shape, b.shape)));
}

function unary(op: string, x: Tensor): Tensor {
  return one(x, op, [x], x.shape);
}

function binary(op: string, left: Operand, right: Operand, dtype?: DType): Tensor {
  const [a, b] = operands(op, left, right);
  const place = a.graph.place(op);
  if (a.dtype !== b.dtype) throw new GraphError(`${place} needs two tensors of one type, found ${a} and ${b}; use cast`);
  return one(a, op, [a, b], broadcast(place, a.shape, b.shape), {}, dtype);
}

function operands(op: string, a: Operand, b: Operand): [Tensor, Tensor] {
  if (typeof a !== 'number') return [a, typeof b === 'number' ? a.graph.scalar(b, a.dtype) : b];
  if (typeof b !== 'number') return [b.graph.scalar(a, b.dtype), b];
  throw new GraphError(`${op} of two numbers (${a}, ${b}): at least one side must be a tensor`);
}

/** The common shape of two tensors that are stretched to fit each other, aligned at the last dimension. */
export function broadcast(place: string, a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i): Dimension => {
    const x = a[i - rank + a.length] ?? 1;
    const y = b[i - rank + b.length] ?? 1;
    if (x === y || y === 1) return x;
    if (x === 1) return y;
    throw new GraphError(
      `${place}: shapes ${showShape(a)} and ${showShape(b)} do not fit; dimensions must be equal or 1, counted from the last`,
    );
  });
}

// ── matrices ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface MatMulOptions {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** Reads [row, batch…, column] as [batch…, row, column], without moving anything. */
  readonly rowsFirstA?: boolean;
  readonly rowsFirstB?: boolean;
  readonly scale?: number;
}

/** A·B over the last two dimensions; dimensions before them are batches. */
export function matmul(a: Tensor, b: Tensor, options: MatMulOptions = {}): Tensor {
  const { transposeA = false, transposeB = false, rowsFirstA = false, rowsFirstB = false, scale = 1 } = options;
  const place = a.graph.place('MatMul');
  if (a.rank < 2 || b.rank < 2) throw new GraphError(`${place} needs two tensors of rank 2 or more, found ${a} and ${b}`);
  const [batchA, rows, inner] = matrixView(a.shape, rowsFirstA, transposeA);
  const [batchB, innerB, columns] = matrixView(b.shape, rowsFirstB, transposeB);
  if (inner !== innerB) {
    throw new GraphError(
      `${place}: inner dimensions ${inner} and ${innerB} differ in ${a}${transposeA ? ' transposed' : ''} × ${b}${transposeB ? ' transposed' : ''}`,
    );
  }
  const attributes = {
    transA: Number(transposeA),
    transB: Number(transposeB),
    transBatchA: Number(rowsFirstA),
    transBatchB: Number(rowsFirstB),
    alpha: scale,
  };
  return one(a, 'MatMul', [a, b], [...broadcast(place, batchA, batchB), rows, columns], attributes);
}

function matrixView(shape: Shape, rowsFirst: boolean, transposed: boolean): [Shape, Dimension, Dimension] {
  const moved = rowsFirst && shape.length > 2 ? [...shape.slice(1, -1), at(shape, 0), at(shape, -1)] : shape;
  const row = at(moved, -2);
  const column = at(moved, -1);
  return [moved.slice(0, -2), transposed ? column : row, transposed ? row : column];
}

// ── moving data ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The same values in another shape. At most one dimension may be one that is only known at run time. */
export function reshape(x: Tensor, shape: Shape): Tensor {
  const place = x.graph.place('Reshape');
  const open = shape.filter((dimension) => typeof dimension === 'string');
  const fits =
    open.length === 0 && x.shape.every((dimension) => typeof dimension === 'number')
      ? elementCount(shape) === elementCount(x.shape)
      : sameNamed(shape, x.shape);
  if (!fits) throw new GraphError(`${place}: ${x} cannot take the shape ${showShape(shape)}; the number of elements must stay`);
  if (showShape(shape) === showShape(x.shape)) return x;
  return one(x, 'Reshape', [x], shape);
}

/** One run-time dimension on both sides, and the rest holding as many elements. */
function sameNamed(a: Shape, b: Shape): boolean {
  const names = (shape: Shape): Dimension[] => shape.filter((dimension) => typeof dimension === 'string');
  const sizes = (shape: Shape): Shape => shape.filter((dimension) => typeof dimension === 'number');
  return names(a).length === 1 && names(b).length === 1 && names(a)[0] === names(b)[0] && elementCount(sizes(a)) === elementCount(sizes(b));
}

export function transpose(x: Tensor, order: readonly number[]): Tensor {
  if (order.toSorted((a, b) => a - b).some((axis, i) => axis !== i) || order.length !== x.rank) {
    throw new GraphError(`${x.graph.place('Transpose')}: [${order.join(', ')}] is not an order of the ${x.rank} dimensions of ${x}`);
  }
  return one(
    x,
    'Transpose',
    [x],
    order.map((axis) => at(x.shape, axis)),
    { perm: order },
  );
}

/** The part of one axis from `start` up to but without `end`. */
export function slice(x: Tensor, axis: number, start: number, end: number): Tensor {
  const place = x.graph.place('Slice');
  const along = axisOf(place, x, axis);
  const size = at(x.sizes, along);
  if (start < 0 || end > size || start >= end) throw new GraphError(`${place}: ${start}…${end} is not inside axis ${axis} of ${x}`);
  if (start === 0 && end === size) return x;
  return one(x, 'Slice', [x], x.shape.with(along, end - start), { axis: along, start, end });
}

export function concat(parts: readonly Tensor[], axis: number): Tensor {
  const [first] = parts;
  if (!first) throw new GraphError('Concat needs at least one tensor, found none');
  if (parts.length === 1) return first;
  const place = first.graph.place('Concat');
  const along = axisOf(place, first, axis);
  let size = 0;
  for (const part of parts) {
    const others = part.rank === first.rank && part.shape.every((dimension, i) => i === along || dimension === first.shape[i]);
    if (!others || part.dtype !== first.dtype) throw new GraphError(`${place}: ${part} does not go with ${first} along axis ${along}`);
    const extent = at(part.shape, along);
    if (typeof extent === 'string') throw new GraphError(`${place}: ${part} has the run-time dimension "${extent}" along axis ${along}`);
    size += extent;
  }
  return one(first, 'Concat', parts, first.shape.with(along, size), { axis: along });
}

/** Cuts one axis into consecutive parts of the given sizes. */
export function split(x: Tensor, sizes: readonly number[], axis: number): readonly Tensor[] {
  const place = x.graph.place('Split');
  const at = axisOf(place, x, axis);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total !== x.shape[at])
    throw new GraphError(`${place}: parts [${sizes.join(', ')}] add up to ${total}, but axis ${axis} of ${x} has ${x.shape[at]}`);
  if (sizes.length === 1) return [x];
  const outputs = sizes.map((size) => ({ shape: x.shape.with(at, size), dtype: x.dtype }));
  return x.graph.node('Split', [x], outputs, { axis: at, sizes });
}

export function expand(x: Tensor, shape: Shape): Tensor {
  const place = x.graph.place('Expand');
  if (showShape(broadcast(place, x.shape, shape)) !== showShape(shape))
    throw new GraphError(`${place}: ${x} cannot be stretched to ${showShape(shape)}`);
  if (showShape(shape) === showShape(x.shape)) return x;
  return one(x, 'Expand', [x], shape);
}

/** Rows of a table: indices of any shape, each replaced by its row `table[index]`. */
export function gather(table: Tensor, indices: Tensor): Tensor {
  needInteger('Gather', indices);
  return one(table, 'Gather', [table, indices], [...indices.shape, ...table.shape.slice(1)], { axis: 0 });
}

/** From each row (last axis) the one element that `indices` names: [..., n] and [...] give [...]. */
export function pick(x: Tensor, indices: Tensor): Tensor {
  needInteger('Pick', indices);
  const expected = x.shape.slice(0, -1);
  if (showShape(indices.shape) !== showShape(expected)) {
    throw new GraphError(`${x.graph.place('Pick')}: ${x} needs indices of shape ${showShape(expected)}, found ${indices}`);
  }
  const column = reshape(indices, [...indices.shape, 1]);
  return reshape(one(x, 'GatherElements', [x, column], column.shape, { axis: x.rank - 1 }), indices.shape);
}

/**
 * Logits [batch · queries · vocabulary] to which amounts [batch · queries · time] are added at places `row · vocabulary + token` of the
 * tokens [batch, time]: a GPU does better with this than with the places alone.
 */
export interface Pointed {
  readonly tokens: Tensor;
  readonly vocabulary: number;
}

/** A copy of `data` whose rows named by `indices` [n] are replaced by (or, with 'add', increased by) `rows` [n, …]. */
export function scatterRows(data: Tensor, indices: Tensor, rows: Tensor, reduction: 'none' | 'add' = 'none', pointed?: Pointed): Tensor {
  needInteger('ScatterND', indices);
  const expected = [...indices.shape, ...data.shape.slice(1)];
  if (indices.rank !== 1 || showShape(rows.shape) !== showShape(expected)) {
    throw new GraphError(
      `${data.graph.place('ScatterND')}: ${indices} and ${rows} do not name rows of ${data}; expected rows of shape ${showShape(expected)}`,
    );
  }
  const column = reshape(cast(indices, 'int64'), [...indices.shape, 1]);
  const inputs = pointed ? [data, column, rows, pointed.tokens] : [data, column, rows];
  return one(data, 'ScatterND', inputs, data.shape, { reduction, ...(pointed && { vocabulary: pointed.vocabulary }) });
}

// ── reductions and normalisation ─────────────────────────────────────────────────────────────────────────────────

/** Sums over the given axes (default: all). `keep` leaves them in the shape with size 1. */
export const reduceSum = (x: Tensor, axes?: readonly number[], keep = false): Tensor => reduction('ReduceSum', x, axes, keep);
export const reduceMean = (x: Tensor, axes?: readonly number[], keep = false): Tensor => reduction('ReduceMean', x, axes, keep);
export const reduceMax = (x: Tensor, axes?: readonly number[], keep = false): Tensor => reduction('ReduceMax', x, axes, keep);

function reduction(op: string, x: Tensor, axes: readonly number[] | undefined, keep: boolean): Tensor {
  const place = x.graph.place(op);
  const at = (axes ?? x.shape.map((_, i) => i)).map((axis) => axisOf(place, x, axis)).toSorted((a, b) => a - b);
  if (new Set(at).size !== at.length) throw new GraphError(`${place}: axes [${at.join(', ')}] name one of ${x} twice`);
  if (at.length === 0) return x;
  const shape = keep ? x.shape.map((dimension, i) => (at.includes(i) ? 1 : dimension)) : x.shape.filter((_, i) => !at.includes(i));
  return one(x, op, [x], shape, { axes: at, keepdims: Number(keep) });
}

/** Over the last axis. */
export const softmax = (x: Tensor): Tensor => one(x, 'Softmax', [x], x.shape, { axis: x.rank - 1 });
export const logSoftmax = (x: Tensor): Tensor => one(x, 'LogSoftmax', [x], x.shape, { axis: x.rank - 1 });

/** x / √(mean(x²) + ε) · gain over the last axis. */
export function rmsNorm(x: Tensor, gain: Tensor, epsilon = 1e-5): Tensor {
  if (gain.rank !== 1 || gain.shape[0] !== x.shape.at(-1))
    throw new GraphError(`${x.graph.place('RMSNorm')}: gain ${gain} does not fit the last axis of ${x}`);
  const [y] = x.graph.node(
    'RMSNorm',
    [x, gain],
    [
      { shape: x.shape, dtype: x.dtype },
      { shape: x.shape.with(x.rank - 1, 1), dtype: x.dtype },
    ],
    { epsilon },
  );
  return only(y);
}

/** x / √(mean(x²) + ε) over the last axis. */
export function normalise(x: Tensor, epsilon = 1e-5): Tensor {
  const outputs = [
    { shape: x.shape, dtype: x.dtype },
    { shape: x.shape.with(x.rank - 1, 1), dtype: x.dtype },
  ];
  const [y] = x.graph.node('Normalise', [x], outputs, { epsilon });
  return only(y);
}

/** Turns pairs of channels (i, i + size/2) of each head by the angle of their position: x [batch, time, heads · size], positions int64 [batch, time], tables [positions, size/2]. */
export function rotary(x: Tensor, positions: Tensor, cosine: Tensor, sine: Tensor, heads: number): Tensor {
  const size = Number(x.shape.at(-1)) / heads;
  const fits =
    x.rank === 3 &&
    showShape(positions.shape) === showShape(x.shape.slice(0, 2)) &&
    cosine.shape[1] === size / 2 &&
    showShape(sine.shape) === showShape(cosine.shape);
  if (!fits || positions.dtype !== 'int64')
    throw new GraphError(
      `${x.graph.place('Rotary')}: ${x} with ${heads} heads does not go with positions ${positions} and tables ${cosine}, ${sine}`,
    );
  return one(x, 'Rotary', [x, positions, cosine, sine], x.shape, { heads });
}

// ── compositions ─────────────────────────────────────────────────────────────────────────────────────────────────

/** True where x is neither NaN nor infinite. */
export const isFinite = (x: Tensor): Tensor => lessOrEqual(abs(x), 3.4028234663852886e38);

/** A tensor filled with one number. */
export function full(like: Tensor, shape: Shape, value: number): Tensor {
  return expand(like.graph.scalar(value, like.dtype), shape);
}

// ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────────

function one(
  like: Tensor,
  op: string,
  inputs: readonly Tensor[],
  shape: Shape,
  attributes: Attributes = {},
  dtype: DType = like.dtype,
): Tensor {
  const [output] = like.graph.node(op, inputs, [{ shape, dtype }], attributes);
  return only(output);
}

function only(tensor: Tensor | undefined): Tensor {
  if (!tensor) throw new GraphError('A node was built without outputs');
  return tensor;
}

function axisOf(place: string, x: Tensor, axis: number): number {
  const at = axis < 0 ? axis + x.rank : axis;
  if (!Number.isInteger(at) || at < 0 || at >= x.rank) throw new GraphError(`${place}: ${x} has no axis ${axis}`);
  return at;
}

function needInteger(op: string, indices: Tensor): void {
  if (indices.dtype !== 'int32' && indices.dtype !== 'int64')
    throw new GraphError(`${indices.graph.place(op)} needs whole-number indices, found ${indices}`);
}
