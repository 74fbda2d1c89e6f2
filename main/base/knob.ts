// One adjustable setting: a zod schema with its default, its meaning in a sentence and its unit. Forms, documentation
// and validation are all generated from these, so a knob that says what it means here says it everywhere.

import { z } from 'zod';

/** A setting with everything the lab shows a user about it. Ranges belong to `schema` (`.min`, `.max`). */
export function knob<S extends z.ZodType>(
  schema: S,
  preset: z.input<S> & z.core.util.NoUndefined<z.output<S>>,
  description: string,
  unit?: string,
) {
  return schema.default(preset).meta(unit === undefined ? { description } : { description, unit });
}

/** A group of settings: unknown keys are errors, and leaving the group out means its defaults. */
export function group<S extends z.core.$ZodLooseShape>(shape: S, description: string) {
  const object = z.strictObject(shape);
  return object.prefault({} as z.input<typeof object>).meta({ description });
}

/** A number between two bounds, both included. */
export const between = (low: number, high: number) => z.number().min(low).max(high);

/** A whole number between two bounds, both included. */
export const whole = (low: number, high: number) => z.int().min(low).max(high);
