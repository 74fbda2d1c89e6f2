// Calls about episodes: the list with its filters, one episode with every step and word, and another policy continuing
// from one of its steps.

import { z } from 'zod';
import type { DrawnPage as WorldPage } from '../../main/environment/page.ts';
import { episodeOrders, purposes } from '../../main/base/vocabulary.ts';
import { anyNumber, nothing, proportion } from './definition.ts';

const run = z.int().min(1);
const episodeId = z.int().min(1);
const purpose = z.enum(purposes);

export const episodeOrder = z.enum(episodeOrders);
export type EpisodeOrder = z.infer<typeof episodeOrder>;

export const episodeFilter = z.strictObject({
  purpose: purpose.optional(),
  fromUpdate: z.int().min(0).optional(),
  toUpdate: z.int().min(0).optional(),
  success: z.boolean().optional(),
  category: z.string().max(200).optional(),
  tier: z.string().max(200).optional(),
  failure: z.string().max(200).optional(),
  task: z.string().max(400).optional(),
  text: z.string().max(400).optional(),
  /** With `text`: also in observations and thoughts. */
  deep: z.boolean().optional(),
  starred: z.boolean().optional(),
});
export type EpisodeFilter = z.infer<typeof episodeFilter>;

const episode = z.object({
  id: episodeId,
  run,
  /** The update it was recorded in, and the one whose weights acted. */
  update: z.number(),
  acted: z.number(),
  purpose,
  split: z.string(),
  task: z.string(),
  category: z.string(),
  tier: z.string(),
  failure: z.string().nullable(),
  seed: z.number(),
  success: z.boolean(),
  return: anyNumber,
  vstar: anyNumber.nullable(),
  advantage: anyNumber.nullable(),
  surprise: anyNumber,
  steps: z.number(),
  tokens: z.number(),
  actions: z.array(z.string()),
  starred: z.boolean(),
  comment: z.string(),
});
export type Episode = z.infer<typeof episode>;

const note = z.object({ starred: z.boolean(), comment: z.string().max(20_000) });
export type EpisodeNote = z.infer<typeof note>;

const counts = z.record(z.string(), z.number());

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

const replay = z.object({
  /** Null for an episode that was re-sampled and not kept. */
  id: episodeId.nullable(),
  run: z.object({ id: run, name: z.string(), variant: z.string(), seed: z.number(), world: z.string() }),
  update: z.number(),
  purpose,
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

const policy = z.object({
  run,
  name: z.string(),
  variant: z.string(),
  seed: z.number(),
  /** Its checkpoints, and which of them had the best validation. */
  updates: z.array(z.number()),
  best: z.number().nullable(),
});

export const replayCalls = {
  /** One self-contained HTML file, where the user says; null when they changed their mind. */
  'episodes.export': { input: z.strictObject({ episode: z.int().min(1) }), answer: z.object({ file: z.string().nullable() }) },
  'episodes.list': {
    input: z.strictObject({
      run,
      filter: episodeFilter,
      order: episodeOrder,
      descending: z.boolean(),
      offset: z.int().min(0),
      limit: z.int().min(1).max(500),
    }),
    /** `total` match the filter, of `all` that the run has now. */
    answer: z.object({ total: z.number(), all: z.number(), episodes: z.array(episode) }),
  },
  /** What there is to filter by, with counts. */
  'episodes.facets': {
    input: z.strictObject({ run }),
    answer: z.object({ total: z.number(), purposes: counts, categories: counts, tiers: counts, failures: counts }),
  },
  'episodes.read': { input: z.strictObject({ episode: episodeId }), answer: z.object({ replay, note }) },
  /** A star and a comment; without either the note is gone. */
  'episodes.note': { input: z.strictObject({ episode: episodeId, ...note.shape }), answer: nothing },
  /** Policies that can act in this run's world: every run of it that has checkpoints. */
  'episodes.policies': { input: z.strictObject({ run }), answer: z.object({ policies: z.array(policy) }) },
  /** Plays the first `step` steps again as they were, then lets another policy continue. Nothing is stored. */
  'episodes.resample': {
    input: z.strictObject({
      episode: episodeId,
      step: z.int().min(0).max(1000),
      run,
      update: z.int().min(0),
      /** 0 takes the most probable token. */
      temperature: z.number().min(0).max(5),
      /** Another number, other draws. */
      attempt: z.int().min(0).max(1000),
      /** Number of rollouts from there: the first comes back, all are counted. */
      rollouts: z.int().min(1).max(100),
    }),
    answer: z.object({ replay, solved: proportion }),
  },
};
