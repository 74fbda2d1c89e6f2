// Bounds on what a file from elsewhere may make this process do. Text is measured before it is parsed (a few bytes of JSON can become
// a hundred times as much memory), lists stop at their first fault instead of collecting millions of them, and what inflates may
// do so only in proportion to its size.

import { z } from 'zod';
import { type Json, parseCanonical } from '../base/canonical.ts';

export const MEGABYTE = 1024 * 1024;
const DEEPEST = 64;
const FEWEST_ELEMENTS = 200_000;
/** Fewer bytes per value than records of ours have. */
const BYTES_PER_ELEMENT = 6;
/** The same of a list of numbers: `0,` is the shortest. */
export const BYTES_PER_NUMBER = 2;

/** What something of `packed` bytes may inflate to: its usual size many times over, and not a thousandfold. */
export const mayInflateTo = (packed: number, least: number, ratio: number): number => Math.max(least, packed * ratio);

/** Parses JSON of bounded depth and number of values; throws a RangeError that says what was too much. */
export function boundedJson(data: Uint8Array, bytesPerElement = BYTES_PER_ELEMENT): Json {
  const most = Math.max(FEWEST_ELEMENTS, data.length / bytesPerElement);
  let depth = 0;
  let elements = 0;
  let inText = false;
  for (let at = 0; at < data.length; at++) {
    const byte = data[at];
    if (inText) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inText = false;
      continue;
    }
    if (byte === 0x22) inText = true;
    else if (byte === 0x5b || byte === 0x7b) {
      elements++;
      if (++depth > DEEPEST) throw new RangeError(`values are nested more than ${DEEPEST} deep`);
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    else if (byte === 0x2c) elements++;
    if (elements > most) throw new RangeError(`there are more than ${Math.floor(most)} values in ${data.length} bytes`);
  }
  return parseCanonical(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
}

/** A list that is checked element by element and given up at the first that does not fit. */
export function listOf<T>(element: z.ZodType<T>, most: number): z.ZodType<T[]> {
  return z.array(z.unknown()).transform((list, context): T[] => {
    if (list.length > most) {
      context.addIssue({ code: 'custom', message: `at most ${most} entries expected, found ${list.length}` });
      return z.NEVER;
    }
    const found: T[] = [];
    for (const [index, item] of list.entries()) {
      const parsed = element.safeParse(item);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        context.addIssue({ code: 'custom', message: issue?.message ?? 'does not fit', path: [index, ...(issue?.path ?? [])] });
        return z.NEVER;
      }
      found.push(parsed.data);
    }
    return found;
  });
}

/** Numbers, NaN and the infinities among them. */
export const numberList = z.custom<number[]>(
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'number'),
  'a list of numbers expected',
);

/** A budget of bytes that several things share. */
export class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new RangeError('it inflates to more than a file of its size may');
  }
}
