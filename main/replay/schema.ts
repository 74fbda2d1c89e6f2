// An episode as it is replayed: its steps, their pages and words. Whoever shows one parses it with these.

import { z } from 'zod';
import { anyNumber } from '../base/shapes.ts';
import { purposes } from '../base/vocabulary.ts';
import type { DrawnPage as WorldPage } from '../environment/page.ts';

const entry = z.object({
  id: z.string(),
  name: z.string(),
  value: z.string(),
  group: z.string().nullable(),
  /** What the task is after. The agent does not see it. */
  target: z.boolean(),
});
export type PageEntry = z.infer<typeof entry>;

const cell = z.object({
  text: z.string(),
  tone: z.enum(['plain', 'faint', 'ground', 'danger', 'goal', 'agent', 'good', 'near', 'wrong']),
  label: z.string(),
});
export type PageCell = z.infer<typeof cell>;
const rows = z.array(z.array(cell).readonly()).readonly();
const entries = z.array(entry).readonly();

/** What the world showed, as a page to draw (main/environment/page.ts); `text` where the world draws none. */
export const drawnPage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    heading: z.string(),
    instruction: z.string(),
    note: z.string(),
    field: z.string().nullable(),
  }),
  z.object({ kind: z.literal('list'), summary: z.string(), entries, empty: z.string(), field: z.string().nullable() }),
  z.object({ kind: z.literal('card'), entry, text: z.string(), options: z.array(z.string()).readonly() }),
  z.object({ kind: z.literal('end'), heading: z.string(), name: z.string(), right: z.boolean().nullable(), verdict: z.string() }),
  z.object({ kind: z.literal('grid'), caption: z.string(), rows }),
  z.object({ kind: z.literal('letters'), caption: z.string(), rows, keys: z.array(cell).readonly() }),
  z.object({ kind: z.literal('text'), text: z.string() }),
]) satisfies z.ZodType<WorldPage>;
export type DrawnPage = z.infer<typeof drawnPage>;

/** One token of the agent with everything that was recorded about it. */
const word = z.object({
  text: z.string(),
  part: z.enum(['thought', 'action']),
  /** π of the token under the grammar's mask; null when the step was given and not drawn. */
  probability: anyNumber.nullable(),
  entropy: anyNumber.nullable(),
  /** ln π − ln π_ref: above 0 the policy says it more readily than the reference. */
  logRatio: anyNumber.nullable(),
  value: anyNumber.nullable(),
  advantage: anyNumber.nullable(),
  alternatives: z.array(z.object({ text: z.string(), probability: anyNumber })),
});
export type Word = z.infer<typeof word>;

const replayStep = z.object({
  observation: z.string(),
  /** The short form that the policy read instead, where the world's settings asked for one. */
  view: z.string().nullable(),
  page: drawnPage,
  thought: z.string(),
  action: z.string(),
  reward: anyNumber,
  reason: z.string(),
  valid: z.boolean(),
  facts: z.record(z.string(), z.union([z.string(), anyNumber, z.boolean(), z.null()])),
  /** Sum of the rewards up to and including this step. */
  returned: anyNumber,
  /** What the oracle would have said here; null where the world cannot know. */
  oracle: z.string().nullable(),
  words: z.array(word),
});
export type ReplayStep = z.infer<typeof replayStep>;

export const replay = z.object({
  /** Null for an episode that was re-sampled and not kept. */
  id: z.int().min(1).nullable(),
  run: z.object({ id: z.int().min(1), name: z.string(), variant: z.string(), seed: z.number(), world: z.string() }),
  update: z.number(),
  purpose: z.enum(purposes),
  split: z.string(),
  task: z.string(),
  instruction: z.string(),
  category: z.string(),
  tier: z.string(),
  target: z.string().nullable(),
  seed: z.number(),
  success: z.boolean(),
  return: anyNumber,
  vstar: z.object({ value: anyNumber, k: z.number().nullable(), n: z.number().nullable() }).nullable(),
  advantage: anyNumber.nullable(),
  steps: z.array(replayStep),
  finalObservation: z.string(),
  finalPage: drawnPage,
  /** Why it failed: the class, what the class means, and what was seen. */
  diagnosis: z.object({ failure: z.string(), meaning: z.string(), evidence: z.string() }).nullable(),
  /** False when today's world no longer plays the episode as it was recorded. */
  retraced: z.boolean(),
});
export type Replay = z.infer<typeof replay>;
