// Files that are complete or absent: written beside their place, synced and renamed. Also what all readers and writers of safetensors
// headers share.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** The limit of the reference implementation of safetensors. */
export const LONGEST_HEADER = 100_000_000;
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

/** A safetensors header with its length before it, filled up with spaces to `room` bytes. */
export function frameHeader(text: Buffer, room: number): Buffer {
  const header = Buffer.alloc(8 + room, ' ');
  header.writeBigUInt64LE(BigInt(room), 0);
  text.copy(header, 8);
  return header;
}

/** The fields of a safetensors header, as a Map so that names such as __proto__ or constructor are only names. */
export function parseHeader(header: Buffer, refuse: (reason: string) => Error): Map<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(header));
  } catch {
    throw refuse('its header is not JSON; it is another kind of file');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw refuse('its header is not a JSON object');
  return new Map(Object.entries(parsed));
}
