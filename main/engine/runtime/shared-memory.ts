// Memory that every thread of the process sees: vectors of numbers, and the memory of WebAssembly programs.

import { OutOfMemoryError } from './errors.ts';

const PAGE = 65_536;
/** Pages that a WebAssembly memory may grow to: all that an address of 32 bits reaches. */
export const MOST_PAGES = 65_536;

export const sharedNumbers = (length: number): Float32Array<SharedArrayBuffer> =>
  new Float32Array(orOutOfMemory(length * Float32Array.BYTES_PER_ELEMENT, (bytes) => new SharedArrayBuffer(bytes)));

export const isShared = ({ buffer }: ArrayBufferView): boolean => buffer instanceof SharedArrayBuffer;

export const sharedMemory = (bytes: number): WebAssembly.Memory =>
  orOutOfMemory(bytes, () => new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE), maximum: MOST_PAGES, shared: true }));

/** Makes the memory at least so long. Arrays over it have to be made anew. */
export function growTo(memory: WebAssembly.Memory, bytes: number): void {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE);
  if (missing > 0) orOutOfMemory(bytes, () => memory.grow(missing));
}

/** JavaScript says that there is no memory with a RangeError. */
function orOutOfMemory<T>(bytes: number, make: (bytes: number) => T): T {
  try {
    return make(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new OutOfMemoryError(`Not enough memory: ${Math.ceil(bytes / 1e6).toLocaleString('en')} MB were not given (${error.message})`);
  }
}
