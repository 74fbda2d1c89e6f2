// Checkpoints survive every round trip bit for bit, and no damaged, foreign or hostile file is ever loaded.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckpointError, readCheckpoint, writeCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import type { Checkpoint, StoredTensor, TensorData } from '../../main/engine/runtime/checkpoint.ts';
import { Random } from '../../main/base/random.ts';

const folder = mkdtempSync(join(tmpdir(), 'astrolab-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'model.safetensors');

function sample(): Checkpoint {
  const random = Random.from('checkpoint', 7);
  const floats = (count: number) => Float32Array.from({ length: count }, () => random.normal());
  return {
    tensors: new Map<string, StoredTensor>([
      ['embedding', { shape: [5, 4], data: floats(20) }],
      ['layer.0.attention.query', { shape: [4, 4], data: floats(16) }],
      ['optimizer.first', { shape: [36], data: floats(36) }],
      ['optimizer.step', { shape: [], data: BigInt64Array.of(12n) }],
    ]),
    step: 12,
    notes: { model: '{"width":4}' },
  };
}

/** A safetensors file with any header, to try what a reader must refuse. */
function craft(header: string, data: Uint8Array = new Uint8Array(0), claimed?: bigint): void {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(claimed ?? BigInt(text.length));
  writeFileSync(file, Buffer.concat([length, text, data]));
}

const metadata = `"__metadata__":{"sha256":"${'0'.repeat(64)}","astrolab":"{\\"version\\":1,\\"step\\":0,\\"random\\":[],\\"notes\\":[]}"}`;

describe('a checkpoint', () => {
  it('comes back bit for bit, with step and notes', () => {
    const before = sample();
    writeCheckpoint(file, before);
    expect(readCheckpoint(file)).toEqual(before);
  });

  it('keeps any names, shapes and numbers, even __proto__ and not-a-number', () => {
    const array = fc.oneof(
      fc.array(fc.float(), { maxLength: 12 }).map((values): TensorData => Float32Array.from(values)),
      fc.array(fc.double(), { maxLength: 12 }).map((values): TensorData => Float64Array.from(values)),
      fc.array(fc.integer(), { maxLength: 12 }).map((values): TensorData => Int32Array.from(values)),
      fc
        .array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 12 })
        .map((values): TensorData => BigInt64Array.from(values)),
      fc.uint8Array({ maxLength: 12 }).map((values): TensorData => values),
    );
    const name = fc
      .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', 'toString', ''))
      .filter((text) => text !== '__metadata__' && text.isWellFormed());
    fc.assert(
      fc.property(fc.array(fc.tuple(name, array), { maxLength: 6 }), fc.nat(), (list, step) => {
        const tensors = new Map(list.map(([key, data]) => [key, { shape: [1, data.length], data }]));
        writeCheckpoint(file, { tensors, step, notes: {} });
        expect(readCheckpoint(file)).toEqual({ tensors, step, notes: {} });
      }),
      { numRuns: 25 },
    );
  });

  it('leaves the old file in place and no remains when writing fails', () => {
    writeCheckpoint(file, sample());
    const before = readFileSync(file);
    const broken = new Map([['x', { shape: [3], data: new Float32Array(2) }]]);
    expect(() => writeCheckpoint(file, { ...sample(), tensors: broken })).toThrow('Tensor x has shape [3] = 3 elements but 2 numbers');
    expect(() => writeCheckpoint(join(folder, 'absent', 'x.safetensors'), sample())).toThrow('ENOENT');
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['model.safetensors']);
  });

  it('follows the safetensors format as a reader without this lab sees it', () => {
    const checkpoint = sample();
    writeCheckpoint(file, checkpoint);
    const script = `
import json, struct, sys
raw = open(sys.argv[1], 'rb').read()
(length,) = struct.unpack('<Q', raw[:8])
assert length % 8 == 0
header = json.loads(raw[8:8 + length])
assert all(isinstance(v, str) for v in header.pop('__metadata__').values())
end = 0
for name, entry in header.items():
    assert entry['data_offsets'][0] == end
    end = entry['data_offsets'][1]
assert 8 + length + end == len(raw)
begin, stop = header['embedding']['data_offsets']
print(json.dumps([header['embedding']['shape'], struct.unpack('<20f', raw[8 + length + begin:8 + length + stop])]))`;
    if (!existsSync('/usr/bin/python3')) return;
    const result = spawnSync('/usr/bin/python3', ['-c', script, file], { encoding: 'utf8' });
    expect(result.stderr).toBe('');
    expect(JSON.parse(result.stdout)).toEqual([[5, 4], [...(checkpoint.tensors.get('embedding')?.data ?? [])]]);
  });
});

describe('a file that is not a checkpoint', () => {
  it('is refused when cut short at any byte', () => {
    writeCheckpoint(file, sample());
    const whole = readFileSync(file);
    for (let length = 0; length < whole.length; length += 13) {
      writeFileSync(file, whole.subarray(0, length));
      expect(() => readCheckpoint(file), `cut at ${length}`).toThrow(CheckpointError);
    }
  });

  it('is refused when any single bit differs', () => {
    writeCheckpoint(file, sample());
    const whole = readFileSync(file);
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 7 }), (position, bit) => {
        const changed = Buffer.from(whole);
        changed[position] = (changed[position] ?? 0) ^ (1 << bit);
        writeFileSync(file, changed);
        expect(() => readCheckpoint(file)).toThrow(CheckpointError);
      }),
      { numRuns: 200 },
    );
  });

  it('is refused whatever bytes it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        writeFileSync(file, bytes);
        expect(() => readCheckpoint(file)).toThrow(CheckpointError);
      }),
    );
  });

  it.each([
    ['a header of 2^63 bytes', '{}', 2n ** 63n, /claims 9223372036854775808 bytes, more than/],
    ['a header longer than the file', '{}', 5000n, /truncated or another kind/],
    ['no JSON', 'not json at all', undefined, /not JSON/],
    ['a list', '[1,2]', undefined, /not a JSON object/],
    ['weights of another program', '{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', undefined, /not one written by this lab/],
    ['an unknown type', `{${metadata},"x":{"dtype":"F8","shape":[4],"data_offsets":[0,4]}}`, undefined, /type F8/],
    [
      'a type named like a prototype member',
      `{${metadata},"x":{"dtype":"constructor","shape":[4],"data_offsets":[0,4]}}`,
      undefined,
      /type constructor/,
    ],
    ['a negative extent', `{${metadata},"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, undefined, /described wrongly/],
    [
      'a shape too large for its bytes',
      `{${metadata},"x":{"dtype":"F32","shape":[999999,999999],"data_offsets":[0,4]}}`,
      undefined,
      /needs 3999992000004 bytes/,
    ],
    [
      'overlapping tensors',
      `{${metadata},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`,
      undefined,
      /overlap/,
    ],
    ['a gap', `{${metadata},"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, undefined, /leave a gap/],
    ['data that is missing', `{${metadata},"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`, undefined, /truncated/],
    ['data that nobody asked for', `{${metadata}}`, undefined, /4 bytes follow the last tensor/],
  ])('with %s is refused with the reason', (_, header, claimed, reason) => {
    craft(header, new Uint8Array(4), claimed);
    expect(() => readCheckpoint(file)).toThrow(reason);
  });
});
