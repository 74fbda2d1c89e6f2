// Matrices in blocks of 32 numbers that share one scale, 8 or 4 bits each, as the runtime's MatMulNBits takes them: unsigned, with the
// middle (128 or 8) standing for zero. The largest number of a block keeps its exact value, as in GGUF's Q4_0.

/** How a model's weights are kept. */
export const PRECISIONS = ['f32', 'f16', 'int8', 'int4'] as const;
export type Precision = (typeof PRECISIONS)[number];

export const BLOCK = 32;

export type Bits = 4 | 8;

export interface Quantised {
  /** [rows, blocks, 32 · bits / 8]; of two numbers in a byte the first is the lower half. */
  readonly packed: Uint8Array;
  /** [rows, blocks] */
  readonly scales: Float32Array;
}

/** Whole rows of a matrix whose width is a multiple of 32. */
export function quantise(numbers: Float32Array, bits: Bits): Quantised {
  const blocks = numbers.length / BLOCK;
  if (!Number.isInteger(blocks)) throw new RangeError(`Expected a multiple of ${BLOCK} numbers, found ${numbers.length}`);
  const middle = bits === 8 ? 128 : 8;
  const scales = new Float32Array(blocks);
  const packed = new Uint8Array((numbers.length * bits) / 8);
  for (let block = 0; block < blocks; block++) {
    let extreme = 0;
    for (let i = block * BLOCK; i < (block + 1) * BLOCK; i++) if (Math.abs(numbers[i]!) > Math.abs(extreme)) extreme = numbers[i]!;
    const scale = extreme === 0 ? 0 : Math.fround(extreme / -middle);
    scales[block] = scale;
    for (let i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
      const level = scale === 0 ? middle : Math.min(2 * middle - 1, Math.max(0, Math.round(numbers[i]! / scale) + middle));
      if (bits === 8) packed[i] = level;
      else packed[i >> 1]! |= i % 2 === 0 ? level : level << 4;
    }
  }
  return { packed, scales };
}

/** What the blocks stand for. */
export function dequantise({ packed, scales }: Quantised, bits: Bits): Float32Array {
  const middle = bits === 8 ? 128 : 8;
  return Float32Array.from({ length: scales.length * BLOCK }, (_, i) => {
    const level = bits === 8 ? packed[i]! : (packed[i >> 1]! >> (i % 2 === 0 ? 0 : 4)) & 15;
    return scales[Math.floor(i / BLOCK)]! * (level - middle);
  });
}
