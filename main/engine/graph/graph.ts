// A typed graph of tensors, built before anything is computed. Shapes and element types are known (and checked) while
// building, so a mistake is reported at the line that makes it, with the node's readable name and the shapes involved.
// The graph says what is computed; onnx.ts writes it as an ONNX file and session.ts runs it.
// Left out on purpose: control flow and computed shapes. A dimension is a number, or a name for a size known only when run.

/** `uint4`: two numbers in a byte; only in files that are mapped. */
export type DType = 'float32' | 'float16' | 'int32' | 'int64' | 'bool' | 'uint8' | 'uint4';
/** A name stands for a size that is only known when the graph is run (e.g. the filled part of a cache). */
export type Dimension = number | string;
export type Shape = readonly Dimension[];
export type Attribute = number | string | readonly number[];
export type Attributes = Readonly<Record<string, Attribute>>;
export type ConstantData = Float32Array | Int32Array | BigInt64Array | Uint8Array;

/** Where the numbers of a constant lie on disk: they are mapped from there, never copied into the graph. */
export interface ExternalData {
  /** Absolute path. */
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

export class GraphError extends Error {
  override name = 'GraphError';
}

export const BYTES_PER_ELEMENT: Readonly<Record<DType, number>> = {
  float32: 4,
  int32: 4,
  int64: 8,
  bool: 1,
  float16: 2,
  uint8: 1,
  uint4: 0.5,
};

export function showShape(shape: Shape): string {
  return `[${shape.join(', ')}]`;
}

/** Number of elements; a graph error where a dimension is only known at run time. */
export function elementCount(shape: Shape): number {
  let count = 1;
  for (const dimension of shape) {
    if (typeof dimension === 'string')
      throw new GraphError(`The size of ${showShape(shape)} is not known while building: "${dimension}" is set at run time`);
    count *= dimension;
  }
  return count;
}

export interface Node {
  /** Operator; every name is one of ONNX's or of its `com.microsoft` extension, but for those that onnx.ts spells out. */
  readonly op: string;
  readonly name: string;
  readonly inputs: readonly Tensor[];
  readonly attributes: Attributes;
  readonly outputs: readonly Tensor[];
}

/** One value in a graph: the output of a node, an input, or a constant. */
export class Tensor {
  readonly graph: Graph;
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  /** The node that computes it; undefined for inputs and constants. */
  node: Node | undefined;
  /** The value, for a constant. */
  readonly data: ConstantData | undefined;
  /** The place of the value in a file, for a constant that is mapped. */
  readonly external: ExternalData | undefined;

  constructor(graph: Graph, name: string, dtype: DType, shape: Shape, data?: ConstantData, external?: ExternalData) {
    this.graph = graph;
    this.name = name;
    this.dtype = dtype;
    this.shape = shape;
    this.data = data;
    this.external = external;
  }

  get rank(): number {
    return this.shape.length;
  }

  /** The shape where all of it must be known, as operators that compute with sizes need it. */
  get sizes(): readonly number[] {
    return this.shape.map((dimension) => {
      if (typeof dimension === 'number') return dimension;
      throw new GraphError(`${this} has the run-time dimension "${dimension}"; this needs fixed sizes`);
    });
  }

  toString(): string {
    return `"${this.name}" ${this.dtype}${showShape(this.shape)}`;
  }
}

/** What a node gives back: one entry per output. */
export interface OutputSpec {
  readonly shape: Shape;
  readonly dtype: DType;
}

/** A part of the graph whose gradient is not taken node by node. */
export interface Segment {
  /** Positions in `graph.nodes`: from, and up to but without. */
  readonly start: number;
  readonly end: number;
  readonly inputs: readonly Tensor[];
  readonly output: Tensor;
  readonly backward: Backward;
}

/** Either the gradients of the inputs, given explicitly, or how to build the part again from its inputs. */
export type Backward =
  | { readonly kind: 'given'; readonly gradients: (dy: Tensor) => readonly Tensor[] }
  | { readonly kind: 'again'; readonly rebuild: (inputs: readonly Tensor[]) => Tensor };

export class Graph {
  readonly name: string;
  readonly nodes: Node[] = [];
  readonly inputs = new Map<string, Tensor>();
  readonly outputs = new Map<string, Tensor>();
  readonly constants: Tensor[] = [];
  readonly segments: Segment[] = [];
  #scopes: string[] = [];
  #counters = new Map<string, number>();
  #scalars = new Map<string, Tensor>();
  #externals = new Map<string, Tensor>();
  #shared = new Map<string, Tensor>();

  constructor(name = 'graph') {
    this.name = name;
  }

  /** Nodes built inside `body` carry `name/` in front of theirs. */
  scope<T>(name: string, body: () => T): T {
    this.#scopes.push(name);
    try {
      return body();
    } finally {
      this.#scopes.pop();
    }
  }

  input(name: string, dtype: DType, shape: Shape): Tensor {
    if (this.inputs.has(name)) throw new GraphError(`The graph already has an input "${name}"; inputs need different names`);
    checkShape(`input "${name}"`, shape);
    const tensor = new Tensor(this, name, dtype, shape);
    this.inputs.set(name, tensor);
    return tensor;
  }

  /** Makes a tensor a result of the graph under its name. */
  output(name: string, tensor: Tensor): void {
    if (this.outputs.has(name)) throw new GraphError(`The graph already has an output "${name}"; outputs need different names`);
    this.outputs.set(name, tensor);
  }

  constant(data: ConstantData, shape: Shape, dtype: DType = dtypeOf(data), name = 'value'): Tensor {
    if (elementCount(shape) !== data.length)
      throw new GraphError(`Constant "${name}" has ${data.length} values, but shape ${showShape(shape)} holds ${elementCount(shape)}`);
    const tensor = new Tensor(this, this.#unique(`constant/${name}`), dtype, shape, data);
    this.constants.push(tensor);
    return tensor;
  }

  /** A constant that several places need under one name: the first of them makes it. */
  shared(name: string, shape: Shape, make: () => ConstantData): Tensor {
    const cached = this.#shared.get(name);
    if (cached) return cached;
    const tensor = this.constant(make(), shape, undefined, name);
    this.#shared.set(name, tensor);
    return tensor;
  }

  /** A constant whose numbers stay in a file; the same name is declared once. */
  external(name: string, dtype: DType, shape: Shape, place: ExternalData): Tensor {
    const cached = this.#externals.get(name);
    if (cached) return cached;
    const bytes = elementCount(shape) * BYTES_PER_ELEMENT[dtype];
    if (bytes !== place.bytes)
      throw new GraphError(`External constant "${name}" ${dtype}${showShape(shape)} needs ${bytes} bytes, but ${place.bytes} are given`);
    const tensor = new Tensor(this, name, dtype, shape, undefined, place);
    this.constants.push(tensor);
    this.#externals.set(name, tensor);
    return tensor;
  }

  /** A single number; the same number is stored once. */
  scalar(value: number, dtype: DType = 'float32'): Tensor {
    const key = `${dtype}:${Object.is(value, -0) ? '-0' : value}`;
    const cached = this.#scalars.get(key);
    if (cached) return cached;
    const tensor = new Tensor(this, `${dtype}(${value})`, dtype, [], scalarData(value, dtype));
    this.constants.push(tensor);
    this.#scalars.set(key, tensor);
    return tensor;
  }

  /** Adds one operator. The functions of operators.ts call this after they have checked what they were given. */
  node(op: string, inputs: readonly Tensor[], outputs: readonly OutputSpec[], attributes: Attributes = {}): readonly Tensor[] {
    const name = this.#unique(op);
    for (const input of inputs) {
      if (input.graph !== this)
        throw new GraphError(`${op} "${name}" uses ${input}, which belongs to another graph ("${input.graph.name}")`);
    }
    const tensors = outputs.map(({ shape, dtype }, index) => {
      checkShape(`${op} "${name}"`, shape);
      return new Tensor(this, index === 0 ? name : `${name}:${index}`, dtype, shape);
    });
    const node: Node = { op, name, inputs, attributes, outputs: tensors };
    for (const tensor of tensors) tensor.node = node;
    this.nodes.push(node);
    return tensors;
  }

  /** The name the next node of this kind will get, for error messages. */
  place(op: string): string {
    return `${op} "${[...this.#scopes, op].join('/')}"`;
  }

  /** Builds `body(...inputs)` such that the backward pass computes it again rather than keeping what is inside. */
  recomputed(name: string, inputs: readonly Tensor[], body: (...inputs: Tensor[]) => Tensor): Tensor {
    const start = this.nodes.length;
    const output = this.scope(name, () => body(...inputs));
    const rebuild = (again: readonly Tensor[]): Tensor => this.scope(`${name}/again`, () => body(...again));
    this.segments.push({ start, end: this.nodes.length, inputs, output, backward: { kind: 'again', rebuild } });
    return output;
  }

  /** Builds several nodes whose gradient, as a whole, is better given explicitly than derived node by node. */
  withGradient(
    name: string,
    inputs: readonly Tensor[],
    body: () => { output: Tensor; gradients: (dy: Tensor) => readonly Tensor[] },
  ): Tensor {
    const start = this.nodes.length;
    const { output, gradients } = this.scope(name, body);
    this.segments.push({ start, end: this.nodes.length, inputs, output, backward: { kind: 'given', gradients } });
    return output;
  }

  #unique(base: string): string {
    const full = [...this.#scopes, base].join('/');
    const count = this.#counters.get(full) ?? 0;
    this.#counters.set(full, count + 1);
    return count === 0 ? full : `${full}_${count}`;
  }
}

function checkShape(where: string, shape: Shape): void {
  for (const dimension of shape) {
    if (typeof dimension === 'number' && !(Number.isInteger(dimension) && dimension >= 0)) {
      throw new GraphError(`${where} has shape ${showShape(shape)}; every dimension must be a whole number or a name`);
    }
  }
}

function dtypeOf(data: ConstantData): DType {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof Int32Array) return 'int32';
  if (data instanceof BigInt64Array) return 'int64';
  return 'bool';
}

function scalarData(value: number, dtype: DType): ConstantData {
  switch (dtype) {
    case 'float32':
      return Float32Array.of(value);
    case 'int32':
      return Int32Array.of(value);
    case 'int64':
      return BigInt64Array.of(BigInt(value));
    case 'bool':
    case 'uint8':
      return Uint8Array.of(value);
    case 'float16':
      throw new GraphError('Half-precision constants are made by casting a float32 constant (operators.cast)');
    case 'uint4':
      throw new GraphError('Numbers of four bits exist only in mapped files (graph.external)');
  }
}
