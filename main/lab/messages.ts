// What the shell and the lab's process say to each other. What crosses inside (inputs, answers, payloads) is parsed by the lab's features.

import { z } from 'zod';

export const toLab = z.discriminatedUnion('kind', [
  /** Comes first. `continues`: a lab before it has ended unexpectedly, so what that one trained is trained again. */
  z.object({ kind: z.literal('open'), dataFolder: z.string(), continues: z.boolean() }),
  z.object({ kind: z.literal('call'), id: z.number(), name: z.unknown(), input: z.unknown() }),
  /** Adds the runs of a file that the system asks to open, and shows them; answered like a call. */
  z.object({ kind: z.literal('file'), id: z.number(), file: z.string() }),
  /** What the desktop answered; `problem` in words when it could not. */
  z.object({ kind: z.literal('desktop'), id: z.number(), value: z.unknown(), problem: z.string().nullable() }),
  /** End in order. */
  z.object({ kind: z.literal('close') }),
]);
export type ToLab = z.infer<typeof toLab>;

export const fromLab = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('answer'), id: z.number(), outcome: z.unknown() }),
  z.object({ kind: z.literal('event'), name: z.string(), payload: z.unknown() }),
  /** A method of the desktop (desktop.ts) with its arguments. */
  z.object({ kind: z.literal('desktop'), id: z.number(), method: z.string(), values: z.array(z.unknown()) }),
  /** So many runs train now. */
  z.object({ kind: z.literal('training'), runs: z.number() }),
]);
export type FromLab = z.infer<typeof fromLab>;
