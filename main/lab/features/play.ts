// Calls of the Play page: find a task, play it step by step, ask the oracle, undo. The game lives in the lab;
// every call answers with all of it, which is small.

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { players, splits } from '../../base/vocabulary.ts';
import type { Environment, Facts, Task } from '../../environment/environment.ts';
import { findTask, Game, savedGame } from '../../environment/game.ts';
import { describe } from '../../environment/grammar.ts';
import { type DrawnPage, drawPage } from '../../environment/page.ts';
import { offersOf, phrasesOf, refusal } from '../../environment/refusal.ts';
import { DEFAULT_WORLD, findWorld, type Worlds } from '../../environment/registry.ts';
import { drawnPage } from '../../replay/schema.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';
import { importedFolder } from './worlds.ts';

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

export const calls = {
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

const SAVED = 'play.game';
const saved = z.object({ imported: z.boolean(), game: savedGame }).nullable();
const modelPlayed = z.object({ actions: z.array(z.string()) });
/** Worlds kept open: making one takes a fraction of a second, one with much data more. */
const MOST_OPEN = 3;

interface Table {
  readonly choice: WorldChoice;
  readonly game: Game;
}

export function handlers(lab: Lab): Handlers<typeof calls> {
  const worlds = new OpenWorlds(lab);
  const current = new CurrentGame(lab, worlds);
  return {
    'play.tasks': ({ choice, filter, limit }) => {
      const environment = worlds.open(choice);
      const fitting = select(environment, filter);
      return { total: fitting.length, tasks: fitting.slice(0, limit).map(shortTask), tiers: [...environment.tiers] };
    },

    'play.game': () => {
      const table = current.find();
      return { game: table && show(lab.catalog, table.choice, table.game) };
    },

    'play.start': ({ choice: asked, task: wanted }) => {
      const choice = { ...asked, world: asked.world || DEFAULT_WORLD };
      const environment = worlds.open(choice);
      return { game: current.start({ choice, game: new Game(environment, pick(lab.catalog, environment, wanted)) }) };
    },

    'play.say': ({ action, anyway }) => {
      const { choice, game } = current.get();
      const refused = refusal(game.environment.grammar(game.now.state), action);
      if (refused !== null && (!anyway || game.now.done)) return { refused, game: show(lab.catalog, choice, game) };
      return { refused: null, ...current.change((now) => now.say(action)) };
    },

    'play.check': ({ action }) => {
      const { game } = current.get();
      return { refused: refusal(game.environment.grammar(game.now.state), action) };
    },

    'play.undo': () => current.change((game) => game.undo()),
    'play.restart': () => current.change((game) => game.restart()),
    'play.oracle': () => ({ action: current.get().game.oracle() }),
    'play.letModel': async ({ model, steps }) => {
      const { choice, game } = current.get();
      const count = game.moves.length;
      // What was invalid has changed nothing, and cannot be said again within the grammar.
      const before = game.moves.filter(({ turn }) => turn.valid).map(({ action }) => action);
      const played = await lab.worker.run({
        kind: 'play',
        dataFolder: lab.dataFolder,
        world: choice.world,
        settings: worlds.settings(choice),
        task: game.task.id,
        before,
        model,
        most: steps === 'one' ? 1 : null,
      });
      const { actions } = modelPlayed.parse(played);
      if (current.get().game !== game || game.moves.length !== count)
        throw new CallFailure('changed', 'The game changed while the model was at work.', 'Ask it again.');
      return current.change((now) => {
        for (const action of actions) now.say(action, 'model');
      });
    },
    'play.letOracle': ({ steps }) => current.change((game) => game.letOracle(steps === 'one' ? 1 : game.environment.maxSteps)),
  };
}

/** The worlds made last, by their settings. */
class OpenWorlds {
  readonly #lab: Lab;
  readonly #worlds = new Map<string, Environment>();

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  /** Only settings that are a choice go through: the page names no files. */
  open(choice: WorldChoice): Environment {
    const name = choice.world || DEFAULT_WORLD;
    const { worlds } = this.#lab.catalog;
    if (!worlds.some((world) => world.name === name)) {
      throw new CallFailure('not-found', `There is no world “${name}”.`, `Choose one of ${worlds.map((world) => world.title).join(', ')}.`);
    }
    const world = findWorld(this.#lab.catalog, name);
    const settings = this.settings(choice);
    const key = JSON.stringify([name, settings]);
    let environment = this.#worlds.get(key);
    if (!environment) {
      const parsed = world.settings.safeParse(settings);
      if (!parsed.success) {
        throw new CallFailure('invalid-settings', `These settings do not fit ${world.title}: ${z.prettifyError(parsed.error)}`);
      }
      environment = world.create(parsed.data);
      if (this.#worlds.size >= MOST_OPEN) this.#worlds.delete([...this.#worlds.keys()][0] ?? '');
      this.#worlds.set(key, environment);
    }
    return environment;
  }

  /** What is chosen, with the imported data where that is wanted. */
  settings({ world: wanted, settings, imported }: WorldChoice): Record<string, string> {
    const name = wanted || DEFAULT_WORLD;
    const { data } = findWorld(this.#lab.catalog, name);
    return { ...chosen(this.#lab.catalog, name, settings), ...(imported && data && { [data.setting]: importedFolder(this.#lab, name) }) };
  }
}

/** The one game, stored after every change. */
class CurrentGame {
  readonly #lab: Lab;
  readonly #worlds: OpenWorlds;
  #table: Table | null = null;

  constructor(lab: Lab, worlds: OpenWorlds) {
    this.#lab = lab;
    this.#worlds = worlds;
  }

  /** The game under way, or the one stored last. */
  find(): Table | null {
    this.#table ??= this.#restore();
    return this.#table;
  }

  get(): Table {
    const table = this.find();
    if (!table) throw new CallFailure('no-game', 'No game is under way.', 'Choose a task first.');
    return table;
  }

  start(table: Table): PlayGame {
    this.#table = table;
    return this.#stored(table);
  }

  /** Changes the game, stores it and shows it. */
  change(move: (game: Game) => void): { game: PlayGame } {
    const table = this.get();
    move(table.game);
    return { game: this.#stored(table) };
  }

  #stored({ choice, game }: Table): PlayGame {
    this.#lab.store.settings.set(SAVED, { imported: choice.imported, game: game.save(choice.settings) });
    return show(this.#lab.catalog, choice, game);
  }

  #restore(): Table | null {
    const left = this.#lab.store.settings.get(SAVED, saved, null);
    if (left === null) return null;
    const choice = { world: left.game.world, settings: left.game.settings, imported: left.imported };
    try {
      const game = Game.restore(this.#worlds.open(choice), left.game);
      return game ? { choice, game } : null;
    } catch {
      return null; // its data is gone: a new game can be begun
    }
  }
}

/** The settings that exist and are a choice. */
function chosen(catalog: Worlds, world: string, settings: Readonly<Record<string, string>>): Record<string, string> {
  const shape: Readonly<Record<string, unknown>> = findWorld(catalog, world).settings.shape;
  return Object.fromEntries(
    Object.entries(settings).filter(([key]) => {
      const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
      return field instanceof z.ZodDefault && field.unwrap() instanceof z.ZodEnum;
    }),
  );
}

function select(environment: Environment, { split, tier, text }: TaskFilter): Task[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return environment.tasks(split).filter((task) => {
    if (tier !== null && task.tier !== tier) return false;
    const where = `${task.id} ${task.instruction} ${task.category}`.toLowerCase();
    return words.every((word) => where.includes(word));
  });
}

function pick(catalog: Worlds, environment: Environment, wanted: { id: string } | { any: TaskFilter } | null): Task {
  if (wanted !== null && 'any' in wanted) {
    const fitting = select(environment, wanted.any);
    // Which task a person gets is no part of what must repeat.
    const task = fitting.length > 0 ? fitting[randomInt(fitting.length)] : undefined;
    if (!task) throw new CallFailure('not-found', 'No task fits these filters.', 'Take another kind of task, or clear the search.');
    return task;
  }
  const id = wanted?.id ?? findWorld(catalog, environment.name).example;
  const task = id === undefined ? environment.tasks('test')[0] : findTask(environment, id);
  if (!task) {
    throw new CallFailure('not-found', `This ${environment.name} has no task “${id ?? ''}”.`, 'Choose one from the list.');
  }
  return task;
}

const shortTask = ({ id, split, instruction, category, tier }: Task) => ({ id, split, instruction, category, tier });

function show(catalog: Worlds, choice: WorldChoice, game: Game): PlayGame {
  const { environment, task, start, now } = game;
  // What the task is after stays hidden until the end: the policy does not see it either.
  const target = now.done ? task.target : null;
  const draw = (observation: string, facts: Facts): DrawnPage => drawPage(environment, observation, { target, facts });
  const grammar = environment.grammar(now.state);
  const page = draw(now.observation, now.facts);
  const names = new Map(page.kind === 'list' ? page.entries.map(({ id, name }) => [id.toLowerCase(), name]) : []);
  let returned = 0;
  return {
    choice,
    title: findWorld(catalog, environment.name).title,
    task: shortTask(task),
    maxSteps: environment.maxSteps,
    returnRange: [...environment.returnRange],
    start: { observation: start.observation, page: draw(start.observation, start.facts) },
    moves: game.moves.map(({ action, by, turn: { valid, reward, reason, observation, facts } }) => {
      returned += reward;
      return { action, by, valid, reward, reason, returned, observation, page: draw(observation, facts) };
    }),
    return: game.return,
    done: now.done,
    success: now.success,
    grammar: describe(grammar),
    offers: offersOf(grammar, now.clickables).map((offer) => ({ ...offer, name: names.get(offer.thing.toLowerCase()) ?? '' })),
    phrases: phrasesOf(grammar),
    oracle: now.done ? game.oracleLine() : null,
  };
}
