// Canonical JSON: equal values give equal text (keys sorted, nothing optional), so that a hash of it identifies a
// config. Numbers that JSON would turn into null (NaN, ±Infinity) are written as {"$number": "NaN"} and read back.

import { createHash } from 'node:crypto';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : `{"$number":"${value}"}`;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object') {
    const parts = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
    return `{${parts.join(',')}}`;
  }
  throw new TypeError(`Only plain data can be stored as JSON; found a ${typeof value}`);
}

export function parseCanonical(text: string): Json {
  // Numbers that JSON has no form for are rare, and looking at every value is slow.
  if (!text.includes('"$number"')) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$number' in value)) return value;
    return Number(value.$number);
  });
}

/** sha256 of the canonical JSON of anything plain, in hex. */
export function contentHash(value: unknown): string {
  return sha256(canonicalJson(value));
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The record without the entries that have these values. */
export function omitEntries<T extends object>(record: T, values: Readonly<Record<string, unknown>>): Partial<T>;
export function omitEntries(record: object, values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(record).filter(([key, value]) => !Object.hasOwn(values, key) || values[key] !== value));
}
