// Memory that every thread of the process sees.

export const sharedNumbers = (length: number): Float32Array<SharedArrayBuffer> =>
  new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));

export const isShared = ({ buffer }: ArrayBufferView): boolean => buffer instanceof SharedArrayBuffer;
