// The header of a safetensors file: its length in 8 bytes, then JSON. Checkpoints and language models share it.

/** The limit of the reference implementation of safetensors. */
export const LONGEST_HEADER = 100_000_000;

/** A safetensors header with its length before it, padded with spaces to `room` bytes. */
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
