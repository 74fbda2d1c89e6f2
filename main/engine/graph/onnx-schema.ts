// The part of ONNX's protobuf schema (onnx.proto, IR version 10) that a computation graph needs, as a descriptor made in
// code: no generated file and no compiler to install. Field numbers are those of the standard, so any viewer reads it.

import { create, toBinary } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import { fileDesc, messageDesc } from '@bufbuild/protobuf/codegenv2';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';

export type AttributeProto = Message<'onnx.AttributeProto'> & {
  name: string;
  f: number;
  i: bigint;
  s: Uint8Array;
  ints: bigint[];
  type: number;
};
export type NodeProto = Message<'onnx.NodeProto'> & {
  input: string[];
  output: string[];
  name: string;
  opType: string;
  attribute: AttributeProto[];
  domain: string;
};
type DimensionProto = Message<'onnx.Dimension'> & { dimValue: bigint; dimParam: string };
type ShapeProto = Message<'onnx.TensorShapeProto'> & { dim: DimensionProto[] };
type TensorTypeProto = Message<'onnx.TensorTypeProto'> & { elemType: number; shape?: ShapeProto };
type TypeProto = Message<'onnx.TypeProto'> & { tensorType?: TensorTypeProto };
export type ValueProto = Message<'onnx.ValueInfoProto'> & { name: string; type?: TypeProto };
type EntryProto = Message<'onnx.StringStringEntryProto'> & { key: string; value: string };
export type TensorProto = Message<'onnx.TensorProto'> & {
  dims: bigint[];
  dataType: number;
  name: string;
  rawData: Uint8Array;
  /** Where other writers put a few numbers instead of raw bytes. */
  floatData: number[];
  int32Data: number[];
  /** 1: the numbers lie in a file, which `externalData` describes. */
  dataLocation: number;
  externalData: EntryProto[];
};
type GraphProto = Message<'onnx.GraphProto'> & {
  node: NodeProto[];
  name: string;
  initializer: TensorProto[];
  input: ValueProto[];
  output: ValueProto[];
};
type OperatorSetProto = Message<'onnx.OperatorSetIdProto'> & { domain: string; version: bigint };
type ModelProto = Message<'onnx.ModelProto'> & {
  irVersion: bigint;
  producerName: string;
  graph?: GraphProto;
  opsetImport: OperatorSetProto[];
};

/** message → fields, each `[number, name, type]`; `…[]` repeats, a capitalised type is another message. */
const MESSAGES: Readonly<Record<string, readonly (readonly [number, string, string])[]>> = {
  AttributeProto: [
    [1, 'name', 'string'],
    [2, 'f', 'float'],
    [3, 'i', 'int64'],
    [4, 's', 'bytes'],
    [8, 'ints', 'int64[]'],
    [20, 'type', 'int32'],
  ],
  NodeProto: [
    [1, 'input', 'string[]'],
    [2, 'output', 'string[]'],
    [3, 'name', 'string'],
    [4, 'op_type', 'string'],
    [5, 'attribute', 'AttributeProto[]'],
    [7, 'domain', 'string'],
  ],
  Dimension: [
    [1, 'dim_value', 'int64'],
    [2, 'dim_param', 'string'],
  ],
  TensorShapeProto: [[1, 'dim', 'Dimension[]']],
  TensorTypeProto: [
    [1, 'elem_type', 'int32'],
    [2, 'shape', 'TensorShapeProto'],
  ],
  TypeProto: [[1, 'tensor_type', 'TensorTypeProto']],
  ValueInfoProto: [
    [1, 'name', 'string'],
    [2, 'type', 'TypeProto'],
  ],
  TensorProto: [
    [1, 'dims', 'int64[]'],
    [2, 'data_type', 'int32'],
    [4, 'float_data', 'float[]'],
    [5, 'int32_data', 'int32[]'],
    [8, 'name', 'string'],
    [9, 'raw_data', 'bytes'],
    [13, 'external_data', 'StringStringEntryProto[]'],
    [14, 'data_location', 'int32'],
  ],
  StringStringEntryProto: [
    [1, 'key', 'string'],
    [2, 'value', 'string'],
  ],
  GraphProto: [
    [1, 'node', 'NodeProto[]'],
    [2, 'name', 'string'],
    [5, 'initializer', 'TensorProto[]'],
    [11, 'input', 'ValueInfoProto[]'],
    [12, 'output', 'ValueInfoProto[]'],
  ],
  OperatorSetIdProto: [
    [1, 'domain', 'string'],
    [2, 'version', 'int64'],
  ],
  ModelProto: [
    [1, 'ir_version', 'int64'],
    [2, 'producer_name', 'string'],
    [7, 'graph', 'GraphProto'],
    [8, 'opset_import', 'OperatorSetIdProto[]'],
  ],
};

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  float: FieldDescriptorProto_Type.FLOAT,
  int32: FieldDescriptorProto_Type.INT32,
  int64: FieldDescriptorProto_Type.INT64,
};

const file = fileDesc(
  base64Encode(
    toBinary(
      FileDescriptorProtoSchema,
      create(FileDescriptorProtoSchema, {
        name: 'onnx.proto',
        package: 'onnx',
        syntax: 'proto2',
        messageType: Object.entries(MESSAGES).map(([name, fields]) => ({ name, field: fields.map(field) })),
      }),
    ),
  ),
);

function field([number, name, type]: readonly [number, string, string]) {
  const label = type.endsWith('[]') ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL;
  const base = type.replace('[]', '');
  const scalar = SCALARS[base];
  return scalar === undefined
    ? { name, number, label, type: FieldDescriptorProto_Type.MESSAGE, typeName: `.onnx.${base}` }
    : { name, number, label, type: scalar };
}

function schema<T extends Message>(name: string): GenMessage<T> {
  return messageDesc<T>(file, Object.keys(MESSAGES).indexOf(name));
}

export const AttributeSchema = schema<AttributeProto>('AttributeProto');
export const NodeSchema = schema<NodeProto>('NodeProto');
export const ValueSchema = schema<ValueProto>('ValueInfoProto');
export const TensorSchema = schema<TensorProto>('TensorProto');
export const ModelSchema = schema<ModelProto>('ModelProto');
