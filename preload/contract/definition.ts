// What one entry of the contract looks like, and the few shapes that several features share. A call is its input and
// its answer; an event is its payload. Types on both sides of the border are derived from these schemas.

import { z } from 'zod';

export interface CallDefinition {
  readonly input: z.ZodType;
  readonly answer: z.ZodType;
}

/** A call that needs no input takes an empty object, so that every call has the same form. */
export const nothing = z.strictObject({});

/** An error as it crosses the border: data, never a stack. */
export const failure = z.object({
  /** Stable and short, for programs: `invalid-input`, `forbidden`, `not-found`, … */
  code: z.string(),
  /** What happened, for people. */
  message: z.string(),
  /** What to do about it; empty when there is nothing to do. */
  hint: z.string(),
});
export type Failure = z.infer<typeof failure>;

/** Every answer is one of these two. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure };
