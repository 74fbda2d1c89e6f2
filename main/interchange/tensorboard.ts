// Metrics as a TensorBoard event file: TFRecord framing (length, masked CRC-32C of the length, data, masked CRC-32C of
// the data) around hand-encoded `Event` messages, of which only four fields are needed. TensorBoard, and everything
// that reads its files, shows them under the same names.

import { ByteWriter } from '../store/pack.ts';
import type { Series } from '../store/metrics.ts';

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/** CRC-32C (Castagnoli). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** TFRecord stores checksums rotated and shifted, so that a checksum of checksums stays useful. */
export function maskedCrc(data: Uint8Array): number {
  const crc = crc32c(data);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function record(data: Buffer): Buffer {
  const frame = Buffer.alloc(12 + data.length + 4);
  frame.writeBigUInt64LE(BigInt(data.length), 0);
  frame.writeUInt32LE(maskedCrc(frame.subarray(0, 8)), 8);
  data.copy(frame, 12);
  frame.writeUInt32LE(maskedCrc(data), 12 + data.length);
  return frame;
}

/** A field with a length: strings and messages within messages. */
function lengthDelimited(field: number, data: Uint8Array): Buffer {
  const head = new ByteWriter();
  head.varint((field << 3) | 2);
  head.varint(data.length);
  return Buffer.concat([head.bytes(), data]);
}

/** Event { wall_time = 1: double, step = 2: int64, file_version = 3: string, summary = 5: Summary } */
function event(wallSeconds: number, step: number, rest: Buffer): Buffer {
  const writer = new ByteWriter();
  writer.varint((1 << 3) | 1);
  writer.float64(wallSeconds);
  writer.varint(2 << 3);
  writer.varint(step);
  return Buffer.concat([writer.bytes(), rest]);
}

/** Summary { value = 1: Value { tag = 1: string, simple_value = 2: float } } */
function scalars(values: readonly (readonly [tag: string, value: number])[]): Buffer {
  const parts = values.map(([tag, value]) => {
    const simple = new ByteWriter();
    simple.varint((2 << 3) | 5);
    simple.float32(value);
    return lengthDelimited(1, Buffer.concat([lengthDelimited(1, Buffer.from(tag)), simple.bytes()]));
  });
  return lengthDelimited(5, Buffer.concat(parts));
}

/** One event per update with all its metrics. `secondsAt` says when an update was, since the start of the run. */
export function tensorboardFile(
  series: Readonly<Record<string, Series>>,
  startedMs: number,
  secondsAt: (update: number) => number,
): Buffer {
  const byUpdate = new Map<number, [string, number][]>();
  for (const [name, { updates, values }] of Object.entries(series)) {
    updates.forEach((update, index) => {
      let list = byUpdate.get(update);
      if (list === undefined) byUpdate.set(update, (list = []));
      list.push([name, values[index] ?? NaN]);
    });
  }
  const start = startedMs / 1000;
  const records = [record(event(start, 0, lengthDelimited(3, Buffer.from('brain.Event:2'))))];
  for (const update of [...byUpdate.keys()].sort((a, b) => a - b)) {
    records.push(record(event(start + secondsAt(update), update, scalars(byUpdate.get(update) ?? []))));
  }
  return Buffer.concat(records);
}
