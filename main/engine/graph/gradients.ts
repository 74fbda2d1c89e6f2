// Reverse-mode differentiation: one rule per operator, in the table below, then a walk backwards over the nodes.
// A rule is given the node and the gradients of its outputs and returns the gradients of its inputs, as further nodes
// of the same graph. At a tie, Min, Max and Relu take the gradient of their first operand; Relu's at 0 is 0.

import { at } from '../../base/indexed.ts';
import { GraphError, elementCount, showShape } from './graph.ts';
import type { Graph, Node, Segment, Shape, Tensor } from './graph.ts';
import * as op from './operators.ts';

interface Call {
  readonly node: Node;
  readonly x: readonly Tensor[];
  /** The node's first output, and the gradient of the loss by it. */
  readonly y: Tensor;
  readonly dy: Tensor;
  /** Gradients of all outputs; undefined where the loss does not depend on one. */
  readonly all: readonly (Tensor | undefined)[];
  /** Whether anybody wants the gradient of input i. */
  wants(index: number): boolean;
}

type Gradient = Tensor | undefined;
type Rule = (call: Call) => readonly Gradient[];

/** A rule for one input, two inputs that may have been stretched to fit each other, or none at all. */
const one =
  (rule: (x: Tensor, y: Tensor, dy: Tensor, node: Node) => Tensor): Rule =>
  ({ x: [a], y, dy, node }) => [a && rule(a, y, dy, node)];
const two =
  (left: (a: Tensor, b: Tensor, dy: Tensor) => Tensor, right: (a: Tensor, b: Tensor, dy: Tensor) => Tensor): Rule =>
  ({ x: [a, b], dy, wants }) => {
    if (!a || !b) return [];
    return [wants(0) ? shrink(left(a, b, dy), a.shape) : undefined, wants(1) ? shrink(right(a, b, dy), b.shape) : undefined];
  };
const none: Rule = () => [];
const product = two(
  (_a, b, dy) => op.mul(dy, b),
  (a, _b, dy) => op.mul(dy, a),
);

export const RULES: Readonly<Record<string, Rule>> = {
  // element by element
  Add: two(
    (_a, _b, dy) => dy,
    (_a, _b, dy) => dy,
  ),
  Sub: two(
    (_a, _b, dy) => dy,
    (_a, _b, dy) => op.neg(dy),
  ),
  Mul: (call) => {
    const [a, b] = call.x;
    return a === b && a ? [op.mul(op.mul(call.dy, a), 2)] : product(call);
  },
  Div: two(
    (_a, b, dy) => op.div(dy, b),
    (a, b, dy) => op.neg(op.div(op.mul(dy, op.div(a, b)), b)),
  ),
  Min: two(
    (a, b, dy) => op.where(op.lessOrEqual(a, b), dy, 0),
    (a, b, dy) => op.where(op.lessOrEqual(a, b), 0, dy),
  ),
  Max: two(
    (a, b, dy) => op.where(op.less(a, b), 0, dy),
    (a, b, dy) => op.where(op.less(a, b), dy, 0),
  ),
  Neg: one((_x, _y, dy) => op.neg(dy)),
  Exp: one((_x, y, dy) => op.mul(dy, y)),
  Log: one((x, _y, dy) => op.div(dy, x)),
  Sqrt: one((_x, y, dy) => op.div(op.mul(dy, 0.5), y)),
  Abs: one((x, _y, dy) => op.where(op.less(x, 0), op.neg(dy), dy)),
  Reciprocal: one((_x, y, dy) => op.neg(op.mul(dy, op.square(y)))),
  Sigmoid: one((_x, y, dy) => op.mul(dy, op.mul(y, op.sub(1, y)))),
  Tanh: one((_x, y, dy) => op.mul(dy, op.sub(1, op.square(y)))),
  Relu: one((x, _y, dy) => op.where(op.greater(x, 0), dy, 0)),
  // y = x·s, so y' = s + y·(1 − s) = s·(1 − y) + y
  Silu: one((x, y, dy) => op.mul(dy, op.add(op.mul(op.sigmoid(x), op.sub(1, y)), y))),
  Where: ({ x: [condition, a, b], dy, wants }) => {
    if (!condition || !a || !b) return [];
    return [
      undefined,
      wants(1) ? shrink(op.where(condition, dy, 0), a.shape) : undefined,
      wants(2) ? shrink(op.where(condition, 0, dy), b.shape) : undefined,
    ];
  },
  Cast: one((x, _y, dy) => op.cast(dy, x.dtype)),

  // matrices
  MatMul: ({ node, x: [a, b], dy, wants }) => {
    if (!a || !b) return [];
    const { transA, transB, transBatchA, transBatchB, alpha } = node.attributes;
    const scale = Number(alpha);
    const [transposeA, transposeB, rowsFirstA, rowsFirstB] = [transA === 1, transB === 1, transBatchA === 1, transBatchB === 1];
    const [first, second, outer] = b.rank === 2 && a.rank > 2 && !transposeA && !rowsFirstA ? [matrix(a), b, matrix(dy)] : [a, b, dy];
    const da = (): Tensor =>
      transposeA
        ? op.matmul(second, outer, { transposeA: transposeB, transposeB: true, rowsFirstA: rowsFirstB, scale })
        : op.matmul(outer, second, { transposeB: !transposeB, rowsFirstB, scale });
    const db = (): Tensor =>
      transposeB
        ? first.rank === 2 && outer.rank === 2 && !transposeA && Number(first.shape[1]) > Number(outer.shape[1])
          ? op.transpose(op.matmul(first, outer, { transposeA: true, scale }), [1, 0])
          : op.matmul(outer, first, { transposeA: true, transposeB: transposeA, rowsFirstB: rowsFirstA, scale })
        : op.matmul(first, outer, { transposeA: !transposeA, rowsFirstA, scale });
    const back = (gradient: Tensor, like: Tensor, rowsFirst: boolean): Tensor =>
      rowsFirst
        ? rowsToFront(shrink(gradient, movedShape(like.shape)))
        : op.reshape(shrink(gradient, gradient.rank >= like.rank ? like.shape : gradient.shape), like.shape);
    return [wants(0) ? back(da(), a, rowsFirstA) : undefined, wants(1) ? back(db(), b, rowsFirstB) : undefined];
  },

  // moving data
  Reshape: one((x, _y, dy) => op.reshape(dy, x.shape)),
  Transpose: one((_x, _y, dy, node) => {
    const order = numbers(node, 'perm');
    return op.transpose(
      dy,
      order.map((_, axis) => order.indexOf(axis)),
    );
  }),
  Slice: one((x, _y, dy, node) => {
    const [axis, start, end] = [Number(node.attributes.axis), Number(node.attributes.start), Number(node.attributes.end)];
    const after = at(x.sizes, axis) - end;
    const zeros = (size: number): Tensor[] => (size > 0 ? [op.full(dy, x.shape.with(axis, size), 0)] : []);
    return op.concat([...zeros(start), dy, ...zeros(after)], axis);
  }),
  Concat: ({ node, x, dy }) => {
    const axis = Number(node.attributes.axis);
    return op.split(
      dy,
      x.map((part) => at(part.sizes, axis)),
      axis,
    );
  },
  Split: ({ node, all, dy }) => {
    const parts = all.map((gradient, i) => gradient ?? op.full(dy, at(node.outputs, i).shape, 0));
    return [op.concat(parts, Number(node.attributes.axis))];
  },
  Expand: one((x, _y, dy) => shrink(dy, x.shape)),
  Gather: ({ x: [table, indices], dy }) => {
    if (!table || !indices) return [];
    const flat = op.reshape(indices, [elementCount(indices.shape)]);
    const rows = op.reshape(dy, [...flat.shape, ...table.shape.slice(1)]);
    return [op.scatterRows(op.full(dy, table.shape, 0), flat, rows, 'add')];
  },
  // Written as one scatter into a flat vector: ScatterElements is twenty times slower.
  GatherElements: ({ x: [x, indices], dy }) => {
    if (!x || !indices) return [];
    const width = at(x.sizes, -1);
    const rows = elementCount(indices.shape);
    const starts = x.graph.constant(
      BigInt64Array.from({ length: rows }, (_, row) => BigInt(row * width)),
      [rows],
      'int64',
      'rowStarts',
    );
    const flat = op.add(op.cast(op.reshape(indices, [rows]), 'int64'), starts);
    return [op.reshape(op.scatterRows(op.full(dy, [rows * width], 0), flat, op.reshape(dy, [rows])), x.shape)];
  },
  ScatterND: ({ node, x: [data, column, rows], dy, wants }) => {
    if (!data || !column || !rows) return [];
    const indices = op.reshape(column, column.shape.slice(0, -1));
    const kept = node.attributes.reduction === 'add' ? dy : op.scatterRows(dy, indices, op.full(dy, rows.shape, 0));
    return [wants(0) ? kept : undefined, undefined, wants(2) ? op.gather(dy, indices) : undefined];
  },

  // reductions and normalisation
  ReduceSum: one((x, _y, dy, node) => op.expand(op.reshape(dy, keptShape(x, node)), x.shape)),
  ReduceMean: one((x, y, dy, node) => {
    const count = elementCount(x.shape) / elementCount(y.shape);
    return op.expand(op.reshape(op.mul(dy, 1 / count), keptShape(x, node)), x.shape);
  }),
  ReduceMax: one((x, y, dy, node) => {
    const kept = keptShape(x, node);
    const hit = op.cast(op.equal(x, op.reshape(y, kept)), dy.dtype);
    const ties = op.reduceSum(hit, numbers(node, 'axes'), true);
    return op.mul(hit, op.div(op.reshape(dy, kept), ties));
  }),
  Softmax: one((_x, y, dy) => op.mul(y, op.sub(dy, op.reduceSum(op.mul(y, dy), [-1], true)))),
  LogSoftmax: one((_x, y, dy) => op.sub(dy, op.mul(op.exp(y), op.reduceSum(dy, [-1], true)))),
  // With x̂ = x·r (r the inverse deviation): dx = r·(dy·gain − x̂·mean(dy·gain·x̂)).
  RMSNorm: ({ node, x: [x, gain], dy, wants }) => {
    const inverse = node.outputs[1];
    if (!x || !gain || !inverse) return [];
    const normal = op.mul(x, inverse);
    const product = op.mul(dy, normal);
    const width = at(x.sizes, -1);
    const dx = (): Tensor => {
      const share = op.matmul(product, op.reshape(gain, [width, 1]), { scale: 1 / width });
      return op.mul(op.sub(op.mul(dy, gain), op.mul(normal, share)), inverse);
    };
    return [wants(0) ? dx() : undefined, wants(1) ? shrink(product, gain.shape) : undefined];
  },
  Normalise: ({ node, x: [x], y, dy }) => {
    const inverse = node.outputs[1];
    if (!x || !inverse) return [];
    const share = op.reduceMean(op.mul(dy, y), [-1], true);
    return [op.mul(op.sub(dy, op.mul(y, share)), inverse)];
  },
  // Turning back: the same rotation by the opposite angle.
  Rotary: ({ node, x: [, positions, cosine, sine], dy }) => {
    if (!positions || !cosine || !sine) return [];
    return [op.rotary(dy, positions, cosine, op.neg(sine), Number(node.attributes.heads))];
  },

  // no gradient, by nature or on purpose
  StopGradient: none,
  Less: none,
  LessOrEqual: none,
  Greater: none,
  Equal: none,
  And: none,
};

/** The gradients of a scalar by each target, in order. */
export function gradients(loss: Tensor, targets: readonly Tensor[]): readonly Tensor[] {
  const { graph } = loss;
  if (loss.rank !== 0) throw new GraphError(`Gradients are taken of a scalar; ${loss} is not one. Sum or average it first`);
  return graph.scope('gradient', () => {
    const walk = new BackwardWalk(graph, targets);
    walk.give(loss, graph.scalar(1, loss.dtype));
    walk.run(0, graph.nodes.length, [...graph.segments]);
    return targets.map((target) => walk.take(target) ?? op.full(loss, target.shape, 0));
  });
}

class BackwardWalk {
  readonly #graph: Graph;
  /** Tensors that depend on a target: only they need a gradient. */
  readonly #active: Set<Tensor>;
  readonly #gradients = new Map<Tensor, Tensor>();

  constructor(graph: Graph, targets: readonly Tensor[]) {
    this.#graph = graph;
    this.#active = new Set(targets);
    this.#spread(0, graph.nodes.length);
  }

  #spread(start: number, end: number): void {
    for (const node of this.#graph.nodes.slice(start, end)) {
      if (RULES[node.op] === none || !node.inputs.some((input) => this.#active.has(input))) continue;
      for (const output of node.outputs) this.#active.add(output);
    }
  }

  give(tensor: Tensor, gradient: Tensor): void {
    const before = this.#gradients.get(tensor);
    this.#gradients.set(tensor, before ? op.add(before, gradient) : gradient);
  }

  take(tensor: Tensor): Gradient {
    return this.#gradients.get(tensor);
  }

  /** Walks backwards over the nodes from `end` to `start`. */
  run(start: number, end: number, segments: readonly Segment[]): void {
    const closing = new Map(segments.map((segment) => [segment.end, segment]));
    for (let at = end; at > start; at--) {
      const segment = closing.get(at);
      if (segment && segment.start >= start) {
        this.#cross(segment);
        at = segment.start + 1;
        continue;
      }
      const node = this.#graph.nodes[at - 1];
      if (node) this.#differentiate(node);
    }
  }

  #cross({ inputs, output, backward }: Segment): void {
    const gradient = this.take(output);
    if (!gradient) return;
    if (backward.kind === 'again') {
      this.#again(inputs, backward.rebuild, gradient);
      return;
    }
    const given = this.#graph.scope(output.name, () => backward.gradients(gradient));
    for (const [i, tensor] of inputs.entries()) {
      const part = given[i];
      if (part && this.#active.has(tensor)) this.give(tensor, part);
    }
  }

  /** Builds a part once more, from inputs that wait for the gradient, and differentiates the copy. */
  #again(inputs: readonly Tensor[], rebuild: (inputs: readonly Tensor[]) => Tensor, gradient: Tensor): void {
    const start = this.#graph.nodes.length;
    const segmentCount = this.#graph.segments.length;
    const nothing = op.mul(op.slice(op.reshape(gradient, [elementCount(gradient.shape)]), 0, 0, 1), 0);
    const held = inputs.map((input) => op.add(input, nothing));
    const copy = this.#graph.nodes.length;
    for (const [i, input] of inputs.entries()) if (this.#active.has(input)) this.#active.add(at(held, i));
    const output = rebuild(held);
    const end = this.#graph.nodes.length;
    this.#spread(start, end);
    this.give(output, gradient);
    this.run(copy, end, this.#graph.segments.slice(segmentCount));
    for (const [i, input] of inputs.entries()) {
      const back = this.take(at(held, i));
      if (back) this.give(input, back);
    }
  }

  #differentiate(node: Node): void {
    const all = node.outputs.map((output) => this.take(output));
    const [y] = node.outputs;
    const dy = all.find((gradient) => gradient !== undefined);
    if (!y || !dy || !node.inputs.some((input) => this.#active.has(input))) return;
    const rule = RULES[node.op];
    if (!rule)
      throw new GraphError(`${node.op} "${node.name}" has no gradient rule; add a row to the table in gradients.ts or use stopGradient`);
    const given = this.#graph.scope(node.name, () =>
      rule({ node, x: node.inputs, y, dy, all, wants: (index) => this.#active.has(at(node.inputs, index)) }),
    );
    for (const [i, gradient] of given.entries()) {
      const input = node.inputs[i];
      if (!gradient || !input || !this.#active.has(input)) continue;
      if (showShape(gradient.shape) !== showShape(input.shape)) {
        throw new GraphError(`The rule of ${node.op} "${node.name}" gave ${gradient} as the gradient of ${input}; their shapes must agree`);
      }
      this.give(input, gradient);
    }
  }
}

/** Sums a gradient over the axes along which its tensor was stretched. */
function shrink(gradient: Tensor, shape: Shape): Tensor {
  const extra = gradient.rank - shape.length;
  const axes = gradient.shape.flatMap((size, axis) => (axis < extra || (shape[axis - extra] === 1 && size !== 1) ? [axis] : []));
  return axes.length === 0 ? gradient : op.reshape(op.reduceSum(gradient, axes, true), shape);
}

/** [..., n] as a matrix [rows, n]. */
function matrix(x: Tensor): Tensor {
  const width = at(x.sizes, -1);
  return op.reshape(x, [elementCount(x.shape) / width, width]);
}

/** [batch…, row, column] → [row, batch…, column]. */
function rowsToFront(x: Tensor): Tensor {
  const axes = x.shape.map((_, axis) => axis);
  return op.transpose(x, [x.rank - 2, ...axes.slice(0, -2), x.rank - 1]);
}

function movedShape(shape: Shape): Shape {
  return [...shape.slice(1, -1), ...shape.slice(0, 1), ...shape.slice(-1)];
}

/** The shape a reduction would have left with `keep`. */
function keptShape(x: Tensor, node: Node): Shape {
  const axes = numbers(node, 'axes');
  return x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
}

function numbers(node: Node, key: string): readonly number[] {
  const value = node.attributes[key];
  return typeof value === 'object' ? value : [];
}
