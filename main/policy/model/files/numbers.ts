// The number formats of published weights, read into float32: plain, half precision, bfloat16, and the two block formats of GGUF
// that are common for small models. A block holds 32 numbers that share one half-precision scale.

export const FORMATS = ['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0'] as const;
export type Format = (typeof FORMATS)[number];

/** Numbers in a block and the bytes they take. */
export const BLOCKS: Readonly<Record<Format, { readonly numbers: number; readonly bytes: number }>> = {
  F32: { numbers: 1, bytes: 4 },
  F16: { numbers: 1, bytes: 2 },
  BF16: { numbers: 1, bytes: 2 },
  Q8_0: { numbers: 32, bytes: 34 },
  Q4_0: { numbers: 32, bytes: 18 },
};

export const bytesFor = (format: Format, count: number): number => (count / BLOCKS[format].numbers) * BLOCKS[format].bytes;

let halves: Float32Array | undefined;

/** Every half-precision number as float32, by its bits. */
function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return halves;
}

/** Float32 as half precision, rounded to the nearest. */
export function toHalf(numbers: Float32Array): Uint16Array {
  return new Uint16Array(Float16Array.from(numbers).buffer);
}

/** Decodes whole blocks; `bytes` may begin at any address. */
export function decode(format: Format, bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const { numbers, bytes: size } = BLOCKS[format];
  const out = new Float32Array((bytes.length / size) * numbers);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const half = halfTable();
  switch (format) {
    case 'F32':
      new Uint8Array(out.buffer).set(bytes);
      break;
    case 'F16':
      for (let i = 0; i < out.length; i++) out[i] = half[view.getUint16(2 * i, true)] ?? 0;
      break;
    case 'BF16': {
      const bits = new Uint32Array(out.buffer);
      for (let i = 0; i < out.length; i++) bits[i] = view.getUint16(2 * i, true) << 16;
      break;
    }
    case 'Q8_0':
      for (let block = 0; block * size < bytes.length; block++) {
        const scale = half[view.getUint16(block * size, true)] ?? 0;
        for (let i = 0; i < 32; i++) out[block * 32 + i] = scale * view.getInt8(block * size + 2 + i);
      }
      break;
    case 'Q4_0':
      for (let block = 0; block * size < bytes.length; block++) {
        const scale = half[view.getUint16(block * size, true)] ?? 0;
        for (let i = 0; i < 16; i++) {
          const pair = view.getUint8(block * size + 2 + i);
          out[block * 32 + i] = scale * ((pair & 15) - 8);
          out[block * 32 + 16 + i] = scale * ((pair >> 4) - 8);
        }
      }
      break;
  }
  return out;
}
