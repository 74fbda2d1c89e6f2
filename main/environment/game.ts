// An interactive episode: the turns so far, who said what, undo, and the oracle beside it. A game is plain data (world,
// settings, task, turns), so it can be put aside and taken up again after a restart; the worlds being pure, that is all.

import { z } from 'zod';
import type { Environment, Plain, Task, Turn } from './environment.ts';
import { players, splits } from '../base/vocabulary.ts';
import { readable } from './refusal.ts';

const plain: z.ZodType<Plain> = z.json();
const turn = z.object({
  state: plain,
  observation: z.string(),
  reward: z.number(),
  reason: z.string(),
  done: z.boolean(),
  valid: z.boolean(),
  success: z.boolean(),
  clickables: z.array(z.string()),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
const player = z.enum(players);
export type Player = z.infer<typeof player>;

export const savedGame = z.object({
  world: z.string(),
  settings: z.record(z.string(), z.string()),
  task: z.string(),
  start: turn,
  moves: z.array(z.object({ action: z.string(), by: player, turn })),
});
export type SavedGame = z.infer<typeof savedGame>;

export interface Move {
  /** As people can read it. */
  readonly action: string;
  readonly by: Player;
  readonly turn: Turn;
}

export class Game {
  readonly environment: Environment;
  readonly task: Task;
  readonly start: Turn;
  #moves: Move[];

  constructor(environment: Environment, task: Task, start: Turn = environment.reset(task, 0), moves: readonly Move[] = []) {
    this.environment = environment;
    this.task = task;
    this.start = start;
    this.#moves = [...moves];
  }

  /** Takes a game up again; undefined when this world no longer has the task or cannot read the state. */
  static restore(environment: Environment, saved: SavedGame): Game | undefined {
    const task = findTask(environment, saved.task);
    if (!task) return undefined;
    const game = new Game(environment, task, saved.start, saved.moves);
    try {
      environment.grammar(game.now.state);
    } catch {
      return undefined; // made by another version of the world
    }
    return game;
  }

  get moves(): readonly Move[] {
    return this.#moves;
  }

  get now(): Turn {
    return this.#moves.at(-1)?.turn ?? this.start;
  }

  get return(): number {
    return this.#moves.reduce((sum, { turn: { reward } }) => sum + reward, 0);
  }

  /** One step with this action, possible or not: what is not possible costs a step, as it does for a policy. */
  say(action: string, by: Player = 'you'): void {
    if (this.now.done) return;
    this.#moves.push({ action: readable(action), by, turn: this.environment.step(this.now.state, action) });
  }

  undo(): void {
    this.#moves.pop();
  }

  restart(): void {
    this.#moves = [];
  }

  /** What the oracle would say now; null where it has no answer. */
  oracle(): string | null {
    return this.now.done ? null : (this.environment.oracle(this.now.state) ?? null);
  }

  /** The oracle plays `most` steps, or until the end or until it has no action. */
  letOracle(most: number): void {
    for (let step = 0; step < most; step++) {
      const action = this.oracle();
      if (action === null) return;
      this.say(action, 'oracle');
    }
  }

  /** How the oracle plays the task from the start. */
  oracleLine(): { readonly actions: string[]; readonly return: number; readonly success: boolean } {
    const game = new Game(this.environment, this.task, this.start);
    game.letOracle(this.environment.maxSteps);
    return { actions: game.moves.map(({ action }) => action), return: game.return, success: game.now.success };
  }

  save(settings: Readonly<Record<string, string>>): SavedGame {
    return savedGame.parse({
      world: this.environment.name,
      settings,
      task: this.task.id,
      start: this.start,
      moves: this.#moves,
    });
  }
}

export function findTask(environment: Environment, id: string): Task | undefined {
  for (const split of splits) {
    const found = environment.tasks(split).find((task) => task.id === id);
    if (found) return found;
  }
  return undefined;
}
