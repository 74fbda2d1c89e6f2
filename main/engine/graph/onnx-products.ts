// How matrix products are written where there is no fused kernel: transposes, product and scale as separate nodes, one product of two
// matrices where a batch of rows meets one, and half precision, in which the factors are rounded and the result is single again.

import { at } from '../../base/indexed.ts';
import type { Attribute, Attributes, DType, Node, Shape, Tensor } from './graph.ts';

export const TYPES: Readonly<Record<DType, number>> = { float32: 1, int32: 6, int64: 7, bool: 9, float16: 10, uint8: 2, uint4: 21 };
/** No tensor of ours has it; numbers become it only inside a product. */
const BFLOAT16 = 16;

/**
 * Sixteen-bit numbers of matrix products: more digits, or the range of single precision. `rounded` is float16 on the CPU, which has no
 * such products and whose optimizer takes the casts out again: factors and result are rounded, the product is single.
 */
export type Half = 'float16' | 'bfloat16' | 'rounded';

/** What writes the nodes of a model (onnx.ts). */
export interface NodeWriter {
  name(tensor: Tensor): string;
  emit(op: string, inputs: readonly string[], outputs: readonly string[], attributes?: Attributes): void;
  /** Emits an intermediate step of a spelled-out operator and returns its value's name. */
  step(node: Node, op: string, inputs: readonly string[], attributes?: Attributes): string;
  integers(values: readonly number[]): string;
  number(value: number): string;
}

/** A shape with a number in place of every size that is only known when run. */
const open = (shape: Shape, size = -1): number[] => shape.map((dimension) => (typeof dimension === 'string' ? size : dimension));

/** The output's. */
export const shapeOf =
  (size: number) =>
  (node: Node, writer: NodeWriter): string[] => [writer.integers(open(at(node.outputs, 0).shape, size))];

export function names(tensors: readonly Tensor[], writer: NodeWriter): string[] {
  return tensors.map((tensor) => writer.name(tensor));
}

/** Sums of a loss, which need every digit, are products with a vector: only those of matrices are worth half precision. */
export function worthHalving({ inputs, outputs }: Node): boolean {
  const [, b] = inputs;
  const extents = b?.rank === 2 ? b.shape : [...inputs, ...outputs].flatMap(({ shape }) => shape.slice(-2));
  return extents.every((extent) => typeof extent === 'number' && extent >= 4);
}

/** Of numbers in single precision that came in half precision: what came. */
export const givenHalf = ({ node }: Tensor): Tensor | undefined => {
  const [source] = node?.inputs ?? [];
  return node?.op === 'Cast' && source?.dtype === 'float16' ? source : undefined;
};

/** A product in half precision whose result is in single precision. */
export function spellHalfMatMul(node: Node, writer: NodeWriter, half: Half): void {
  const halved = (tensor: Tensor): string => {
    if (half === 'rounded')
      return writer.step(node, 'Reshape', [roundedRow(node, writer, writer.name(tensor)), writer.integers(open(tensor.shape))]);
    const given = half === 'float16' ? givenHalf(tensor) : undefined;
    const to = half === 'float16' ? TYPES.float16 : BFLOAT16;
    return given ? writer.name(given) : writer.step(node, 'Cast', [writer.name(tensor)], { to });
  };
  const [a, b] = node.inputs;
  const { transA = 0, transB = 0, transBatchA, transBatchB, alpha = 1 } = node.attributes;
  // One product of two matrices reads a transposed one where it lies.
  const matrices = a && b?.rank === 2 && !transBatchA && !transBatchB && (a.rank === 2 || rowsTimesMatrix(node));
  if (!matrices) return spellMatMul(node, writer, { halved, half });
  const flat = a.rank === 2 ? halved(a) : writer.step(node, 'Reshape', [halved(a), writer.integers([-1, Number(a.shape.at(-1))])]);
  const product = writer.step(node, 'Gemm', [flat, halved(b)], { transA, transB, alpha });
  if (half === 'rounded') {
    writer.emit('Reshape', [roundedRow(node, writer, product), ...shapeOf(-1)(node, writer)], names(node.outputs, writer));
    return;
  }
  const whole = a.rank === 2 ? product : writer.step(node, 'Reshape', [product, ...shapeOf(-1)(node, writer)]);
  writer.emit('Cast', [whole], names(node.outputs, writer), { to: TYPES.float32 });
}

/**
 * Rounded to half precision and single again, as one row. The CPU's optimizer would take two casts in a row out, so between them the
 * numbers are laid out anew, which costs nothing.
 */
function roundedRow(node: Node, writer: NodeWriter, x: string): string {
  const row = writer.step(node, 'Reshape', [writer.step(node, 'Cast', [x], { to: TYPES.float16 }), writer.integers([1, -1])]);
  return writer.step(node, 'Cast', [row], { to: TYPES.float32 });
}

/** [..., n, k] times a matrix. */
export function rowsTimesMatrix({ inputs: [a, b], attributes }: Node): boolean {
  return a !== undefined && b?.rank === 2 && a.rank > 2 && !attributes.transA && !attributes.transBatchA && !attributes.transBatchB;
}

/** As one product of two matrices, which reads a transposed one where it lies; a batched product would copy it first. */
export function spellRowsTimesMatrix(node: Node, writer: NodeWriter): void {
  const [a = '', b = ''] = names(node.inputs, writer);
  const { transB = 0, alpha = 1 } = node.attributes;
  const flat = writer.step(node, 'Reshape', [a, writer.integers([-1, Number(at(node.inputs, 0).shape.at(-1))])]);
  const product = writer.step(node, 'Gemm', [flat, b], { transA: 0, transB, alpha });
  writer.emit('Reshape', [product, ...shapeOf(-1)(node, writer)], names(node.outputs, writer));
}

/** Where there is no fused kernel: casts, transposes, product, scale as separate nodes. */
export function spellMatMul(
  node: Node,
  writer: NodeWriter,
  { halved, half }: { readonly halved?: (tensor: Tensor) => string; readonly half?: Half } = {},
): void {
  const operand = (index: 0 | 1, rowsFirst: Attribute | undefined, transposed: Attribute | undefined): string => {
    const tensor = node.inputs[index];
    if (!tensor) return '';
    const axes = tensor.shape.map((_, axis) => axis);
    let order = rowsFirst && axes.length > 2 ? [...axes.slice(1, -1), 0, axes.length - 1] : axes;
    if (transposed) order = [...order.slice(0, -2), at(order, -1), at(order, -2)];
    const name = halved ? halved(tensor) : writer.name(tensor);
    return order.every((axis, i) => axis === i) ? name : writer.step(node, 'Transpose', [name], { perm: order });
  };
  const { transA, transB, transBatchA, transBatchB, alpha = 1 } = node.attributes;
  const factors = [operand(0, transBatchA, transA), operand(1, transBatchB, transB)];
  const steps: [string, readonly string[], Attributes][] = [['MatMul', [], {}]];
  if (half === 'rounded') steps.push(['Cast', [], { to: TYPES.float16 }], ['Reshape', [writer.integers([1, -1])], {}]);
  if (half) steps.push(['Cast', [], { to: TYPES.float32 }]);
  if (half === 'rounded') steps.push(['Reshape', shapeOf(-1)(node, writer), {}]);
  if (alpha !== 1) steps.push(['Mul', [writer.number(Number(alpha))], {}]);
  let current: readonly string[] = factors;
  for (const [i, [op, more, attributes]] of steps.entries()) {
    if (i === steps.length - 1) writer.emit(op, [...current, ...more], names(node.outputs, writer), attributes);
    else current = [writer.step(node, op, [...current, ...more], attributes)];
  }
}
