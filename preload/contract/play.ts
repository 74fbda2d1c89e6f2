// Calls of the Play page: find a task, play it step by step, ask the oracle, undo. The game lives in the main process;
// every call answers with all of it, which is small.

import { z } from 'zod';
import { nothing } from './definition.ts';
import { drawnPage } from './replay.ts';
import { players, splits } from '../../main/base/vocabulary.ts';

const split = z.enum(splits);

/** Which world, by name (empty: the lab's default), and its settings that are a choice. `imported`: with the data that was imported for it instead of what it ships with. */
const worldChoice = z.strictObject({
  world: z.string().max(60),
  settings: z.record(z.string().max(60), z.string().max(60)),
  imported: z.boolean(),
});
export type WorldChoice = z.infer<typeof worldChoice>;

const task = z.object({
  id: z.string(),
  split,
  instruction: z.string(),
  category: z.string(),
  tier: z.string(),
});

const filter = z.strictObject({ split, tier: z.string().max(100).nullable(), text: z.string().max(400) });
export type TaskFilter = z.infer<typeof filter>;

const move = z.object({
  action: z.string(),
  by: z.enum(players),
  valid: z.boolean(),
  reward: z.number(),
  reason: z.string(),
  /** Sum of the rewards up to and including this step. */
  returned: z.number(),
  observation: z.string(),
  page: drawnPage,
});
export type PlayMove = z.infer<typeof move>;

const offer = z.object({ action: z.string(), verb: z.string(), thing: z.string(), name: z.string() });
export type PlayOffer = z.infer<typeof offer>;

const game = z.object({
  choice: worldChoice,
  title: z.string(),
  task,
  maxSteps: z.number(),
  /** The most and the least that an episode can return. */
  returnRange: z.tuple([z.number(), z.number()]),
  start: z.object({ observation: z.string(), page: drawnPage }),
  moves: z.array(move),
  return: z.number(),
  done: z.boolean(),
  success: z.boolean(),
  /** What may be said now, in words; then as things to pick, and as what surrounds free text. */
  grammar: z.string(),
  offers: z.array(offer),
  phrases: z.array(z.object({ before: z.string(), after: z.string() })),
  /** How the oracle plays the whole task; shown when the episode is over. */
  oracle: z.object({ actions: z.array(z.string()), return: z.number(), success: z.boolean() }).nullable(),
});
export type PlayGame = z.infer<typeof game>;

const played = z.object({ game });

export const playCalls = {
  /** Tasks of a world: the first ones that fit, how many there are, and what there is to filter by. */
  'play.tasks': {
    input: z.strictObject({ choice: worldChoice, filter, limit: z.int().min(1).max(500) }),
    answer: z.object({ total: z.number(), tasks: z.array(task), tiers: z.array(z.string()) }),
  },
  /** The game that was left, also before a restart; null when there is none. */
  'play.game': { input: nothing, answer: z.object({ game: game.nullable() }) },
  /** A new game: this task, the world's example (null), or any that fits the filter. */
  'play.start': {
    input: z.strictObject({
      choice: worldChoice,
      task: z.union([z.strictObject({ id: z.string().max(400) }), z.strictObject({ any: filter }), z.null()]),
    }),
    answer: played,
  },
  /** Says an action. What the grammar does not allow is refused with the reason and costs nothing, unless said `anyway`. */
  'play.say': {
    input: z.strictObject({ action: z.string().max(4_000_000), anyway: z.boolean() }),
    answer: z.object({ game, refused: z.string().nullable() }),
  },
  /** Why an action would be refused, as it is typed; null when it would not. */
  'play.check': { input: z.strictObject({ action: z.string().max(4_000_000) }), answer: z.object({ refused: z.string().nullable() }) },
  'play.undo': { input: nothing, answer: played },
  'play.restart': { input: nothing, answer: played },
  /** What the oracle would say now; null where it has no answer. */
  'play.oracle': { input: nothing, answer: z.object({ action: z.string().nullable() }) },
  /** The oracle plays one step, or to the end. */
  'play.letOracle': { input: z.strictObject({ steps: z.enum(['one', 'all']) }), answer: played },
  /** A language model plays one step, or to the end, greedily. */
  'play.letModel': { input: z.strictObject({ model: z.string().min(1).max(200), steps: z.enum(['one', 'all']) }), answer: played },
};
