// How matmul.as.ts wants its weights: rearranged once into panels of eight outputs, [panel, input, 8], so that they are read in one go.

const PANEL = 8;
const BLOCK = 2 * PANEL;

export const roundUp = (size: number, step: number): number => Math.ceil(size / step) * step;
/** Numbers from one row of results to the next: outputs are computed sixteen at a time. */
export const rowStride = (outputs: number): number => roundUp(outputs, BLOCK);
export const packedLength = (inputs: number, outputs: number): number => rowStride(outputs) * inputs;

/** Puts a matrix [rows, columns] into panels of `inputs` inputs, from the output `first` on. */
export function pack(packed: Float32Array, matrix: Float32Array, columns: number, inputs: number, first = 0): void {
  const rows = matrix.length / columns;
  for (let row = 0; row < rows; row++) {
    const output = first + row;
    let to = Math.floor(output / PANEL) * PANEL * inputs + (output % PANEL);
    const start = row * columns;
    for (let i = 0; i < columns; i++, to += PANEL) packed[to] = matrix[start + i]!;
  }
}
