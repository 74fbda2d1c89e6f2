// Writes a graph as an ONNX model. Most nodes go over one to one; the table below spells out those whose ONNX form needs
// constant inputs (Reshape, Slice, …) or depends on the target: the CPU has fused kernels that a GPU lacks or gets wrong
// (measured: a fused RMSNorm returns a wrong second output on WebGPU; a Split with many outputs exceeds its buffer limit).
// Whole numbers have 32 bits on a GPU: WebGPU computes with no others, and only the rotary kernel wants 64 (as they are given).
// Nodes that no output needs are left out.

import { dirname, isAbsolute, relative, sep } from 'node:path';
import { at } from '../../base/indexed.ts';
import { create, toBinary } from '@bufbuild/protobuf';
import { GraphError, elementCount } from './graph.ts';
import type { Attribute, Attributes, ConstantData, DType, ExternalData, Graph, Node, Shape, Tensor } from './graph.ts';
import { AttributeSchema, ModelSchema, NodeSchema, TensorSchema, ValueSchema } from './onnx-schema.ts';
import type { NodeProto, TensorProto, ValueProto } from './onnx-schema.ts';
import {
  TYPES,
  givenHalf,
  names,
  rowsTimesMatrix,
  shapeOf,
  spellHalfMatMul,
  spellMatMul,
  spellRowsTimesMatrix,
  worthHalving,
} from './onnx-products.ts';
import type { Half, NodeWriter } from './onnx-products.ts';

export type Target = 'cpu' | 'gpu';

const MICROSOFT = 'com.microsoft';
const FLOAT_ATTRIBUTES = new Set(['alpha', 'beta', 'epsilon']);
/** Fewer elements than the runtime would share out among threads, whichever way it counts them. */
const ONE_THREAD_ELEMENTS = 16_384;
/** More inputs to one GPU kernel would exceed the number of storage buffers. */
const GPU_CONCAT = 6;

/** The model file's bytes. With `half`, matrix products are computed in half precision; everything else stays as it is. */
export const encode = (graph: Graph, target: Target = 'cpu', half?: Half): Uint8Array<ArrayBuffer> =>
  encodeCounted(graph, target, half).bytes;

/** Operators that compute nothing. */
const FREE = new Set(['Reshape', 'Identity']);

/**
 * The same, with the number of its nodes that compute something: the runtime fuses few of them on a device, and names none. `threads`: of the session
 * that will run it; unknown where missing.
 */
export function encodeCounted(
  graph: Graph,
  target: Target = 'cpu',
  half?: Half,
  threads?: number,
): { bytes: Uint8Array<ArrayBuffer>; kernels: number } {
  const writer = new Writer(graph, target, half, threads);
  for (const node of liveNodes(graph)) (SPELLED[node.op] ?? plain)(node, writer);
  for (const [name, tensor] of graph.outputs) if (writer.name(tensor) !== name) writer.emit('Identity', [writer.name(tensor)], [name]);
  const nodes = half ? neededNodes(writer.nodes, [...graph.outputs.keys()]) : writer.nodes;
  const model = create(ModelSchema, {
    irVersion: 10n,
    producerName: 'astrolab',
    opsetImport: [
      { domain: '', version: 21n },
      { domain: MICROSOFT, version: 1n },
    ],
    graph: {
      name: graph.name,
      node: nodes,
      initializer: writer.initializers(),
      input: [...graph.inputs.values()].map((tensor) => valueInfo(tensor.name, tensor.dtype, tensor.shape)),
      output: [...graph.outputs].map(([name, tensor]) => valueInfo(name, tensor.dtype, tensor.shape)),
    },
  });
  return { bytes: new Uint8Array(toBinary(ModelSchema, model)), kernels: nodes.filter(({ opType }) => !FREE.has(opType)).length };
}

/** What was unpacked from half precision for nobody is left out. */
function neededNodes(nodes: readonly NodeProto[], outputs: readonly string[]): NodeProto[] {
  const needed = new Set(outputs);
  const kept = nodes.toReversed().filter(({ input, output }) => {
    if (!output.some((name) => needed.has(name))) return false;
    for (const name of input) needed.add(name);
    return true;
  });
  return kept.toReversed();
}

/** The nodes that some output depends on, in building order. */
export function liveNodes(graph: Graph): readonly Node[] {
  const needed = new Set<Tensor>(graph.outputs.values());
  const live: Node[] = [];
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some((tensor) => needed.has(tensor))) continue;
    for (const input of node.inputs) needed.add(input);
    live.push(node);
  }
  return live.toReversed();
}

/** The folder that all mapped files lie in (their locations are written relative to it); undefined where nothing is mapped. */
export function externalFolder(graph: Graph): string | undefined {
  const folders = [...new Set(graph.constants.flatMap(({ external }) => (external ? [dirname(external.file)] : [])))];
  const [first] = folders;
  if (first === undefined) return undefined;
  let common = first;
  while (folders.some((folder) => relative(common, folder).startsWith('..') || isAbsolute(relative(common, folder)))) {
    const parent = dirname(common);
    if (parent === common) throw new GraphError(`The mapped files ${folders.join(', ')} lie on different drives; convert the model first`);
    common = parent;
  }
  return common;
}

class Writer implements NodeWriter {
  readonly nodes: NodeProto[] = [];
  readonly target: Target;
  readonly half: Half | undefined;
  readonly threads: number | undefined;
  readonly #folder: string | undefined;
  #names = new Map<Tensor, string>();
  #used = new Set<Tensor>();
  #extra: TensorProto[] = [];
  #constants = new Map<string, string>();
  #wide = new Set<Tensor>();
  #fresh = 0;

  constructor(graph: Graph, target: Target, half: Half | undefined, threads: number | undefined) {
    this.target = target;
    this.half = half;
    this.threads = threads;
    this.#folder = externalFolder(graph);
    // A result computed by a node carries the output's name directly, which spares a copy.
    for (const [name, tensor] of graph.outputs) if (tensor.node && !this.#names.has(tensor)) this.#names.set(tensor, name);
  }

  name(tensor: Tensor): string {
    if (tensor.data || tensor.external) this.#used.add(tensor);
    return this.#names.get(tensor) ?? tensor.name;
  }

  /** The tensor's element type as it is written. */
  type(dtype: DType): DType {
    return this.target === 'gpu' && dtype === 'int64' ? 'int32' : dtype;
  }

  /** A constant or input of 64-bit numbers that stays so on every target. */
  wide(tensor: Tensor): string {
    if (!tensor.data || tensor.dtype !== 'int64' || this.target === 'cpu') return this.name(tensor);
    this.#wide.add(tensor);
    return wideName(tensor);
  }

  emit(op: string, inputs: readonly string[], outputs: readonly string[], attributes: Attributes = {}, domain = ''): void {
    const name = outputs[0] ?? op;
    this.nodes.push(
      create(NodeSchema, {
        opType: op,
        name,
        domain,
        input: [...inputs],
        output: [...outputs],
        attribute: Object.entries(attributes).map(attribute),
      }),
    );
  }

  /** Emits an intermediate step of a spelled-out operator and returns its value's name. */
  step(node: Node, op: string, inputs: readonly string[], attributes: Attributes = {}, domain = ''): string {
    const output = `${node.name}/${op}#${this.#fresh++}`;
    this.emit(op, inputs, [output], attributes, domain);
    return output;
  }

  integers(values: readonly number[]): string {
    return this.constant(`int64[${values.join(',')}]`, BigInt64Array.from(values, BigInt), [values.length], 'int64');
  }

  /** 0, 1, 2, … as 32-bit numbers. */
  counting(length: number, shape: readonly number[]): string {
    return this.constant(
      `0…${length}[${shape.join(',')}]`,
      Int32Array.from({ length }, (_, i) => i),
      shape,
      'int32',
    );
  }

  number(value: number): string {
    return this.constant(`float32(${value})#`, Float32Array.of(value), [], 'float32');
  }

  constant(name: string, data: ConstantData, shape: Shape, dtype: DType): string {
    if (!this.#constants.has(name)) {
      this.#constants.set(name, name);
      this.#extra.push(tensorProto(name, data, shape, dtype));
    }
    return name;
  }

  initializers(): TensorProto[] {
    const used = [...this.#used].map((tensor) =>
      tensor.external
        ? externalProto(tensor, tensor.external, this.#folder)
        : tensorProto(tensor.name, narrowed(constantData(tensor), this.type(tensor.dtype)), tensor.shape, this.type(tensor.dtype)),
    );
    const wide = [...this.#wide].map((tensor) => tensorProto(wideName(tensor), constantData(tensor), tensor.shape, tensor.dtype));
    return [...used, ...wide, ...this.#extra];
  }
}

type Spell = (node: Node, writer: Writer) => void;

const plain: Spell = (node, writer) => {
  writer.emit(node.op, names(node.inputs, writer), names(node.outputs, writer), node.attributes);
};

/** The operator with the listed attributes given as constant inputs instead, as newer ONNX versions want them. */
function withInputs(op: string, extra: (node: Node, writer: Writer) => string[], keep: readonly string[] = []): Spell {
  return (node, writer) => {
    const attributes = Object.fromEntries(Object.entries(node.attributes).filter(([key]) => keep.includes(key)));
    writer.emit(op, [...names(node.inputs, writer), ...extra(node, writer)], names(node.outputs, writer), attributes);
  };
}

const axesOf = (node: Node, writer: Writer): string[] => [writer.integers(list(node, 'axes'))];

const SPELLED: Readonly<Record<string, Spell>> = {
  Reshape: withInputs('Reshape', shapeOf(-1)),
  Expand: withInputs('Expand', shapeOf(1)),
  ReduceSum: withInputs('ReduceSum', axesOf, ['keepdims']),
  ReduceMean: withInputs('ReduceMean', axesOf, ['keepdims']),
  ReduceMin: withInputs('ReduceMin', axesOf, ['keepdims']),
  ReduceMax: withInputs('ReduceMax', axesOf, ['keepdims']),
  Slice: withInputs('Slice', (node, writer) => ['start', 'end', 'axis'].map((key) => writer.integers([number(node, key)]))),
  StopGradient: withInputs('Identity', () => []),
  Cast: (node, writer) => {
    const to = writer.type(at(node.outputs, 0).dtype);
    if (to === writer.type(at(node.inputs, 0).dtype)) writer.emit('Identity', names(node.inputs, writer), names(node.outputs, writer));
    else writer.emit('Cast', names(node.inputs, writer), names(node.outputs, writer), { to: TYPES[to] });
  },
  Gather: (node, writer) => {
    const given = writer.half && givenHalf(at(node.inputs, 0));
    if (!given) return plain(node, writer);
    // Rows are unpacked after they were chosen.
    const rows = writer.step(node, 'Gather', [writer.name(given), writer.name(at(node.inputs, 1))], node.attributes);
    writer.emit('Cast', [rows], names(node.outputs, writer), { to: TYPES.float32 });
  },
  Split: (node, writer) => {
    const sizes = list(node, 'sizes');
    if (writer.target === 'cpu') {
      writer.emit('Split', [...names(node.inputs, writer), writer.integers(sizes)], names(node.outputs, writer), {
        axis: number(node, 'axis'),
      });
      return;
    }
    let start = 0;
    for (const [i, output] of names(node.outputs, writer).entries()) {
      const end = start + at(sizes, i);
      writer.emit(
        'Slice',
        [...names(node.inputs, writer), writer.integers([start]), writer.integers([end]), writer.integers([number(node, 'axis')])],
        [output],
      );
      start = end;
    }
  },
  Concat: (node, writer) => {
    let parts = names(node.inputs, writer);
    while (writer.target === 'gpu' && parts.length > GPU_CONCAT) {
      const joined: string[] = [];
      for (let i = 0; i < parts.length; i += GPU_CONCAT) {
        const chunk = parts.slice(i, i + GPU_CONCAT);
        joined.push(chunk.length === 1 && chunk[0] !== undefined ? chunk[0] : writer.step(node, 'Concat', chunk, node.attributes));
      }
      parts = joined;
    }
    writer.emit('Concat', parts, names(node.outputs, writer), node.attributes);
  },
  // The CPU's kernel adds rows up in several threads without a lock: where two rows have the same index, one of them may be lost. So, unless there is
  // one thread, many rows are added a few at a time, each time too few for a second thread. Every time copies the whole table.
  ScatterND: (node, writer) => {
    if (writer.target === 'gpu') {
      spellScatter(node, writer);
      return;
    }
    const [data = '', column = '', rows = ''] = names(node.inputs, writer);
    const shape = at(node.inputs, 2).sizes;
    const [count = 0] = shape;
    const each = Math.max(1, Math.floor((ONE_THREAD_ELEMENTS * count) / Math.max(1, elementCount(shape))));
    const attributes = { reduction: node.attributes.reduction ?? 'none' };
    if (attributes.reduction !== 'add' || count <= each || writer.threads === 1) {
      writer.emit('ScatterND', [data, column, rows], names(node.outputs, writer), attributes);
      return;
    }
    const starts = Array.from({ length: Math.ceil(count / each) }, (_, i) => i * each);
    const sizes = starts.map((start) => Math.min(each, count - start));
    const cut = (name: string, what: string): string[] => {
      const parts = starts.map((start) => `${node.name}/${what}#${start}`);
      writer.emit('Split', [name, writer.integers(sizes)], parts, { axis: 0 });
      return parts;
    };
    const [columns, parts] = [cut(column, 'indices'), cut(rows, 'rows')];
    let sum = data;
    for (const [i, part] of parts.entries()) {
      const inputs = [sum, at(columns, i), part];
      if (i === parts.length - 1) writer.emit('ScatterND', inputs, names(node.outputs, writer), attributes);
      else sum = writer.step(node, 'ScatterND', inputs, attributes);
    }
  },
  MatMul: (node, writer) => {
    const { transA = 0, transB = 0, transBatchA = 0, transBatchB = 0, alpha = 1 } = node.attributes;
    const matrices = node.inputs.every((tensor) => tensor.rank === 2);
    const bare = !transA && !transB && !transBatchA && !transBatchB && alpha === 1;
    if (writer.half && worthHalving(node)) spellHalfMatMul(node, writer, writer.half);
    else if (matrices) writer.emit('Gemm', names(node.inputs, writer), names(node.outputs, writer), { transA, transB, alpha });
    else if (writer.target === 'gpu' && rowsTimesMatrix(node)) spellRowsTimesMatrix(node, writer);
    else if (bare) writer.emit('MatMul', names(node.inputs, writer), names(node.outputs, writer));
    else if (writer.target === 'cpu')
      writer.emit('FusedMatMul', names(node.inputs, writer), names(node.outputs, writer), node.attributes, MICROSOFT);
    else spellMatMul(node, writer);
  },
  Silu: (node, writer) => {
    const [x = ''] = names(node.inputs, writer);
    if (writer.target === 'cpu') writer.emit('QuickGelu', [x], names(node.outputs, writer), { alpha: 1 }, MICROSOFT);
    else writer.emit('Mul', [x, writer.step(node, 'Sigmoid', [x])], names(node.outputs, writer));
  },
  RMSNorm: (node, writer) => {
    const [x = '', gain = ''] = names(node.inputs, writer);
    const [y = '', inverse = ''] = names(node.outputs, writer);
    if (writer.target === 'cpu') {
      writer.emit('SimplifiedLayerNormalization', [x, gain], [y, inverse], { axis: -1, epsilon: number(node, 'epsilon') });
      return;
    }
    spellInverse(node, writer, x, inverse);
    writer.emit('Mul', [writer.step(node, 'Mul', [x, inverse]), gain], [y]);
  },
  Normalise: (node, writer) => {
    const [x = ''] = names(node.inputs, writer);
    const [y = '', inverse = ''] = names(node.outputs, writer);
    if (writer.target === 'cpu') {
      const width = at(at(node.inputs, 0).sizes, -1);
      const ones = writer.constant(`ones[${width}]`, new Float32Array(width).fill(1), [width], 'float32');
      writer.emit('SimplifiedLayerNormalization', [x, ones], [y, inverse], { axis: -1, epsilon: number(node, 'epsilon') });
      return;
    }
    spellInverse(node, writer, x, inverse);
    writer.emit('Mul', [x, inverse], [y]);
  },
  BlockProduct: (node, writer) => {
    const [x = '', blocks = '', scales = '', ...bias] = names(node.inputs, writer);
    const inputs = [x, blocks, scales, ...(bias.length > 0 ? ['', '', ...bias] : [])];
    writer.emit('MatMulNBits', inputs, names(node.outputs, writer), node.attributes, MICROSOFT);
  },
  /** x + more normalised, and x + more. */
  AddRMSNorm: (node, writer) => {
    const [y = '', sum = ''] = names(node.outputs, writer);
    writer.emit('SkipSimplifiedLayerNormalization', names(node.inputs, writer), [y, '', '', sum], node.attributes, MICROSOFT);
  },
  /** Cuts one axis into parts whose sizes are only known when run. */
  SplitAt: (node, writer) => writer.emit('Split', names(node.inputs, writer), names(node.outputs, writer), node.attributes),
  Rotary: (node, writer) => {
    const inputs = node.inputs.map((tensor) => writer.wide(tensor));
    writer.emit('RotaryEmbedding', inputs, names(node.outputs, writer), { interleaved: 0 }, MICROSOFT);
  },
  LogSoftmax: (node, writer) => {
    if (writer.target === 'cpu') {
      plain(node, writer);
      return;
    }
    const [x = ''] = names(node.inputs, writer);
    const last = writer.integers([-1]);
    const shifted = writer.step(node, 'Sub', [x, writer.step(node, 'ReduceMax', [x, last])]);
    const sum = writer.step(node, 'ReduceSum', [writer.step(node, 'Exp', [shifted]), last]);
    writer.emit('Sub', [shifted, writer.step(node, 'Log', [sum])], names(node.outputs, writer));
  },
};

/** Up to so many rows a table's gradient is a product with one-hot rows: exact to repeat, where adding rows with atomics is not. */
const ONE_HOT_ROWS = 8192;

/**
 * WebGPU's ScatterND takes 64-bit indices, which nothing there can compute. Where rows may have the same index, they are added up by a
 * product with one-hot rows, in an order that is always the same.
 */
function spellScatter(node: Node, writer: Writer): void {
  const [data, column, rows, tokens] = node.inputs;
  if (!data || !column || !rows) throw new GraphError(`ScatterND "${node.name}" needs data, indices and rows`);
  const add = node.attributes.reduction === 'add';
  const shaped = (tensor: Tensor, shape: readonly number[]): string =>
    writer.step(node, 'Reshape', [writer.name(tensor), writer.integers(shape)]);
  const oneHot = (left: string, right: string): string =>
    writer.step(node, 'Cast', [writer.step(node, 'Equal', [left, right])], { to: TYPES.float32 });
  const addTo = (product: string): void => writer.emit('Add', [writer.name(data), product], names(node.outputs, writer));
  const [count = 0] = rows.sizes;
  const [height = 0] = data.sizes;
  if (add && tokens) {
    const [batch = 0, time = 0] = tokens.sizes;
    const width = number(node, 'vocabulary');
    const hot = oneHot(shaped(tokens, [batch, time, 1]), writer.counting(width, [width]));
    const product = writer.step(node, 'MatMul', [shaped(rows, [batch, count / (batch * time), time]), hot]);
    addTo(writer.step(node, 'Reshape', [product, writer.integers([height])]));
  } else if (add && data.rank === 2 && height <= ONE_HOT_ROWS) {
    const hot = oneHot(writer.counting(height, [height, 1]), shaped(column, [1, count]));
    addTo(writer.step(node, 'MatMul', [hot, writer.name(rows)]));
  } else {
    const indices = shaped(
      column,
      rows.sizes.map((size, axis) => (axis === 0 ? size : 1)),
    );
    const spread = rows.rank === 1 ? indices : writer.step(node, 'Expand', [indices, writer.integers(rows.sizes)]);
    const attributes = { axis: 0, ...(add && { reduction: 'add' }) };
    writer.emit('ScatterElements', [writer.name(data), spread, writer.name(rows)], names(node.outputs, writer), attributes);
  }
}

const wideName = (tensor: Tensor): string => `${tensor.name}/wide`;

/** The numbers of a constant as they are written. */
const narrowed = (data: ConstantData, dtype: DType): ConstantData =>
  data instanceof BigInt64Array && dtype === 'int32' ? Int32Array.from(data, Number) : data;

/** 1 / √(mean(x²) + ε) over the last axis. */
function spellInverse(node: Node, writer: Writer, x: string, inverse: string): void {
  const mean = writer.step(node, 'ReduceMean', [writer.step(node, 'Mul', [x, x]), writer.integers([-1])]);
  writer.emit(
    'Reciprocal',
    [writer.step(node, 'Sqrt', [writer.step(node, 'Add', [mean, writer.number(number(node, 'epsilon'))])])],
    [inverse],
  );
}

function constantData(tensor: Tensor): ConstantData {
  if (!tensor.data) throw new GraphError(`${tensor} was written as a constant, but it has no data`);
  return tensor.data;
}

function number(node: Node, key: string): number {
  const value = node.attributes[key];
  if (typeof value !== 'number') throw new TypeError(`${node.op} "${node.name}" needs the number "${key}", found ${String(value)}`);
  return value;
}

function list(node: Node, key: string): readonly number[] {
  const value = node.attributes[key];
  if (typeof value !== 'object') throw new TypeError(`${node.op} "${node.name}" needs the list "${key}", found ${String(value)}`);
  return value;
}

function attribute([name, value]: [string, Attribute]) {
  if (typeof value === 'string') return create(AttributeSchema, { name, s: new TextEncoder().encode(value), type: 3 });
  if (typeof value === 'object') return create(AttributeSchema, { name, ints: value.map(BigInt), type: 7 });
  if (FLOAT_ATTRIBUTES.has(name)) return create(AttributeSchema, { name, f: value, type: 1 });
  return create(AttributeSchema, { name, i: BigInt(value), type: 2 });
}

function valueInfo(name: string, dtype: DType, shape: Shape): ValueProto {
  const dim = shape.map((dimension) => (typeof dimension === 'string' ? { dimParam: dimension } : { dimValue: BigInt(dimension) }));
  return create(ValueSchema, { name, type: { tensorType: { elemType: TYPES[dtype], shape: { dim } } } });
}

function tensorProto(name: string, data: ConstantData, shape: Shape, dtype: DType): TensorProto {
  elementCount(shape);
  return create(TensorSchema, {
    name,
    dims: shape.map((dimension) => BigInt(dimension)),
    dataType: TYPES[dtype],
    rawData: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  });
}

function externalProto({ name, shape, dtype }: Tensor, { file, offset, bytes }: ExternalData, folder = ''): TensorProto {
  const location = relative(folder, file).split(sep).join('/');
  return create(TensorSchema, {
    name,
    dims: shape.map((dimension) => BigInt(dimension)),
    dataType: TYPES[dtype],
    dataLocation: 1,
    externalData: [
      { key: 'location', value: location },
      { key: 'offset', value: String(offset) },
      { key: 'length', value: String(bytes) },
    ],
  });
}
