// Stored plain data as an answer takes it.

import type { Json } from '../base/canonical.ts';

type Mutable = null | boolean | number | string | Mutable[] | { [key: string]: Mutable };

/** A copy of plain data that may be handed over. */
export function plain(value: unknown | Json): Mutable {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  throw new TypeError(`Only plain data can be shown; found a ${typeof value}`);
}
