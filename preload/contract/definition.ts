// What one entry of the contract looks like, and the few shapes that several features share. A call is its input and
// its answer; an event is its payload. Types on both sides of the border are derived from these schemas.

import { z } from 'zod';

export interface CallDefinition {
  readonly input: z.ZodType;
  readonly answer: z.ZodType;
}

/** A call that needs no input takes an empty object, so that every call has the same form. */
export const nothing = z.strictObject({});

/** A number that may be NaN or infinite: a diverged run has such points, and they are shown as gaps. */
export const anyNumber = z.union([z.number(), z.nan(), z.literal(Number.POSITIVE_INFINITY), z.literal(Number.NEGATIVE_INFINITY)]);

/** k successes of n with the Wilson 95% interval. */
export const proportion = z.object({ k: z.number(), n: z.number(), rate: anyNumber, low: anyNumber, high: anyNumber });
export type Proportion = z.infer<typeof proportion>;

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
