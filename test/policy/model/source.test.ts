// Models are opened or refused by name: every supported format, and files that are hostile, broken or of an unsupported kind.

import { cpSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseModelConfig, weightSpecs } from '../../../main/policy/model/architecture.ts';
import { readGguf } from '../../../main/policy/model/files/gguf.ts';
import { ggufName, huggingFaceName } from '../../../main/policy/model/files/gguf-model.ts';
import { decode } from '../../../main/policy/model/files/numbers.ts';
import { ModelRegistry, defaultName } from '../../../main/policy/model/files/registry.ts';
import { readSafetensors } from '../../../main/policy/model/files/safetensors.ts';
import { openSource } from '../../../main/policy/model/files/source.ts';
import { interleave, readAll } from '../../../main/policy/model/files/tensor-source.ts';
import { GOLDEN, goldenFolder, goldenJson, temporaryFolder, writeHeader } from './samples.ts';

/** A copy of a golden model whose config.json was changed. */
function altered(name: string, change: Record<string, unknown>): string {
  const folder = temporaryFolder();
  cpSync(goldenFolder(name), folder, { recursive: true });
  const config: unknown = goldenJson(name, 'config.json');
  writeFileSync(join(folder, 'config.json'), JSON.stringify(Object.assign({}, config, change)));
  return folder;
}

describe('number formats', () => {
  it('reads half precision, bfloat16 and both block formats exactly', () => {
    const bits = (...values: number[]): Uint8Array => new Uint8Array(Uint16Array.from(values).buffer);
    expect([...decode('F16', bits(0x3c00, 0xc000, 0x0001, 0x7bff))]).toEqual([1, -2, 2 ** -24, 65504]);
    expect([...decode('BF16', bits(0x3f80, 0xc040))]).toEqual([1, -3]);
    const q8 = Uint8Array.from([0x00, 0x38, ...Array.from({ length: 32 }, (_, i) => (i === 0 ? 0x80 : i))]); // scale 0.5
    expect([...decode('Q8_0', q8)].slice(0, 3)).toEqual([-64, 0.5, 1]);
    const q4 = Uint8Array.from([0x00, 0x3c, ...Array.from({ length: 16 }, (_, i) => (i === 0 ? 0xf0 : 0x98))]); // scale 1
    expect([...decode('Q4_0', q4)].filter((_, i) => [0, 1, 16, 17].includes(i))).toEqual([-8, 0, 7, 1]);
  });

  it('interleaves the rows of heads and brings them back', () => {
    const rows = Float32Array.from({ length: 16 }, (_, i) => i);
    const written = interleave(rows, [8, 2], 2, 'do');
    expect([...written.subarray(0, 8)]).toEqual([0, 1, 4, 5, 2, 3, 6, 7]);
    expect(interleave(written, [8, 2], 2, 'undo')).toEqual(rows);
  });
});

describe('a model folder', () => {
  it('has names that go to those of llama.cpp and back', () => {
    for (const { name } of weightSpecs(openSource(goldenFolder('tiny-qwen3')).config)) expect(huggingFaceName(ggufName(name))).toBe(name);
    expect(ggufName('model.layers.7.self_attn.q_norm.weight')).toBe('blk.7.attn_q_norm.weight');
  });

  it('is read in full, number by number', () => {
    const tensor = openSource(goldenFolder('tiny-qwen2-bf16-shards')).tensors.get('model.norm.weight');
    const numbers = tensor ? readAll(tensor) : new Float32Array();
    expect(numbers).toHaveLength(64);
    expect(numbers.every((number) => Math.abs(number - 1) < 0.5)).toBe(true); // 1 + 0.1 · normal
  });

  it.each(GOLDEN)('%s is opened with every tensor in its place', (name) => {
    const { config, tensors, kind } = openSource(goldenFolder(name));
    expect([kind, config.layers, config.heads, config.keyValueHeads]).toEqual(['folder', 3, 8, 2]);
    expect(tensors.get('model.layers.2.mlp.down_proj.weight')?.shape).toEqual([64, 160]);
    expect(config.headSize).toBe(name === 'tiny-qwen3' ? 16 : 8);
  });

  it.each([
    [{ model_type: 'qwen2_moe' }, /qwen2_moe.*mixture of experts/],
    [{ model_type: 'gpt2' }, /"gpt2" are not supported/],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 }, rope_parameters: null }, /rope scaling of the kind "yarn"/],
    [{ use_sliding_window: true, sliding_window: 64 }, /sliding window/],
    [{ layer_types: ['full_attention', 'sliding_attention', 'full_attention'] }, /"sliding_attention"/],
    [{ hidden_act: 'gelu' }, /"gelu"/],
    [{ quantization_config: { quant_method: 'gptq' } }, /GPTQ/],
    [{ num_key_value_heads: 3 }, /3 key-value heads/],
    [{ hidden_size: 128 }, /the config asks for \[300, 128\]/],
    [{ num_hidden_layers: 4 }, /model\.layers\.3\.input_layernorm\.weight .* is missing/],
    [{ num_hidden_layers: 2 }, /holds the tensor model\.layers\.2/],
    [{ vocab_size: 1e12 }, /vocab_size/],
    [{ hidden_size: 65_536, intermediate_size: 1_000_000, num_hidden_layers: 1000 }, /billion parameters/],
  ])('with %j is refused by name', (change, message) => {
    expect(() => openSource(altered('tiny-qwen2', change))).toThrow(message);
  });

  it('accepts the scaling of Llama 3', () => {
    const json = Object.assign({}, goldenJson('tiny-llama', 'config.json'), {
      rope_parameters: {
        rope_theta: 5e5,
        rope_type: 'llama3',
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 8192,
      },
    });
    expect(parseModelConfig(json, 'config').ropeScaling).toMatchObject({ kind: 'llama3', factor: 8, originalLength: 8192 });
  });

  it('without a shard, or with pickles, is refused', () => {
    const shards = altered('tiny-qwen2-bf16-shards', {});
    rmSync(join(shards, 'model-00002-of-00002.safetensors'));
    expect(() => openSource(shards)).toThrow(/shard model-00002-of-00002\.safetensors is missing/);
    const pickled = altered('tiny-qwen2', {});
    rmSync(join(pickled, 'model.safetensors'));
    writeFileSync(join(pickled, 'pytorch_model.bin'), 'x');
    expect(() => openSource(pickled)).toThrow(/pickle/);
  });

  it('with an index that points outside is refused', () => {
    const folder = altered('tiny-qwen2-bf16-shards', {});
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: { a: '../../etc/passwd' } }));
    expect(() => openSource(folder)).toThrow(/outside the folder/);
  });
});

describe('a hostile safetensors header', () => {
  const F32 = (shape: number[], begin: number, end: number): unknown => ({ dtype: 'F32', shape, data_offsets: [begin, end] });
  it.each([
    ['not JSON', '{"a":', 8, /not JSON/],
    ['a list', '[1, 2, 3, 4]', 8, /not a JSON object/],
    ['overlapping tensors', { a: F32([2], 0, 8), b: F32([2], 4, 12) }, 12, /overlap/],
    ['a tensor beyond the end', { a: F32([2_500_000_000], 0, 10_000_000_000) }, 16, /truncated or lies/],
    ['a length that is not its shape', { a: F32([3], 0, 8) }, 8, /needs 12 bytes and is given 8/],
    ['negative sizes', { a: F32([-2], 0, 8) }, 8, /described wrongly/],
    ['an end before its beginning', { a: F32([0], 8, 0) }, 8, /truncated or lies/],
  ])('with %s is refused', (_, header, bytes, message) => {
    const file = join(temporaryFolder(), 'x.safetensors');
    writeHeader(file, header, bytes);
    expect(() => readSafetensors(file)).toThrow(message);
  });

  it('of 100 GB of zeros is refused at once', () => {
    const file = join(temporaryFolder(), 'zeros.safetensors');
    writeFileSync(file, '');
    truncateSync(file, 100e9);
    expect(() => readSafetensors(file)).toThrow(/header claims 0 bytes/);
    expect(() => readGguf(file)).toThrow(/does not begin with "GGUF"/);
  });
});

describe('a hostile GGUF file', () => {
  const words = (...parts: (number | bigint | string)[]): Buffer =>
    Buffer.concat(
      parts.map((part) => {
        const bytes = Buffer.alloc(typeof part === 'number' ? 4 : 8);
        if (typeof part === 'string') return Buffer.concat([words(BigInt(Buffer.byteLength(part))), Buffer.from(part)]);
        if (typeof part === 'bigint') bytes.writeBigUInt64LE(part);
        else bytes.writeUInt32LE(part);
        return bytes;
      }),
    );
  const GGUF = 0x46554747;
  it.each([
    ['an unknown version', words(GGUF, 9, 0n, 0n), /version is 9/],
    ['a trillion tensors', words(GGUF, 3, 10n ** 12n, 0n), /claims 1000000000000 tensors/],
    ['a text without end', words(GGUF, 3, 0n, 1n, 1n << 40n), /a text of/],
    ['a list without end', words(GGUF, 3, 0n, 1n, 'key', 9, 4, 1n << 40n), /a list of/],
    ['metadata that is cut off', words(GGUF, 3, 0n, 1n, 'key', 8, 900n), /truncated or lies/],
    ['a tensor beyond the end', words(GGUF, 3, 1n, 0n, 'a', 1, 64n, 0, 0n), /needs 256 bytes/],
    ['K-quants', words(GGUF, 3, 1n, 0n, 'a', 1, 256n, 12, 0n), /GGUF type 12/],
  ])('with %s is refused', (_, bytes, message) => {
    const file = join(temporaryFolder(), 'x.gguf');
    writeFileSync(file, bytes);
    expect(() => readGguf(file)).toThrow(message);
  });
});

describe('the models of a data folder', () => {
  it('are added, listed, opened and removed; the original stays', () => {
    const registry = new ModelRegistry(temporaryFolder());
    const added = registry.add(goldenFolder('tiny-qwen2-bf16-shards'));
    expect(added).toMatchObject({ name: 'tiny-qwen2-bf16-shards', architecture: 'qwen2', parameters: 162_016 });
    expect(registry.list()).toEqual([added]);
    expect(() => registry.add(goldenFolder('tiny-qwen2'), added.name)).toThrow(/already/);
    const { weights } = registry.open(added.name);
    const place = weights.get('model.norm.weight')?.place;
    expect([place?.bytes, place?.file.startsWith(registry.folderOf(added.name))]).toEqual([256, true]);
    registry.remove(added.name);
    expect(registry.list()).toEqual([]);
    expect(openSource(goldenFolder('tiny-qwen2-bf16-shards')).config.layers).toBe(3);
  });

  it('are mapped where they lie when they are float32', () => {
    const registry = new ModelRegistry(temporaryFolder());
    registry.add(goldenFolder('tiny-llama'));
    expect(registry.open('tiny-llama').weights.get('lm_head.weight')?.place.file).toBe(
      join(goldenFolder('tiny-llama'), 'model.safetensors'),
    );
  });

  it('notice a file that has changed or moved, and are found again', () => {
    const registry = new ModelRegistry(temporaryFolder());
    const folder = altered('tiny-qwen2', {});
    registry.add(folder, 'mine');
    utimesSync(join(folder, 'config.json'), 1, 1);
    expect(registry.open('mine').name).toBe('mine'); // touched, but the same
    const file = join(folder, 'model.safetensors');
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = 0x7f;
    writeFileSync(file, bytes);
    expect(() => registry.open('mine')).toThrow(/have changed/);
    rmSync(folder, { recursive: true });
    expect(() => registry.open('mine')).toThrow(/lab models locate mine PATH/);
    expect(() => registry.locate('mine', goldenFolder('tiny-qwen3'))).toThrow(/another model/);
    registry.locate('mine', altered('tiny-qwen2', {}));
    expect(registry.open('mine').config.architecture).toBe('qwen2');
  });

  it('keep nothing of a model that is refused', () => {
    const registry = new ModelRegistry(temporaryFolder());
    expect(() => registry.add(altered('tiny-qwen2', { mlp_bias: true }), 'bad')).toThrow(/mlp_bias/);
    expect(registry.list()).toEqual([]);
    expect(() => registry.add(goldenFolder('tiny-qwen2'), '../escape')).toThrow(/cannot be a model's name/);
    expect(defaultName('/x/Qwen2.5-0.5B Instruct.gguf')).toBe('qwen2.5-0.5b-instruct');
  });
});
