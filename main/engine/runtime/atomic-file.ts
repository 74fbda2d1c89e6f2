// Files that are complete or absent: written to a temporary name, synced and renamed.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

const CHUNK = 1 << 24;

export function writeAtomically(file: string, temporary: string, write: (handle: number) => void): void {
  try {
    const handle = openSync(temporary, 'w');
    try {
      write(handle);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

export function writeAll(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done, Math.min(bytes.length - done, CHUNK));
}
