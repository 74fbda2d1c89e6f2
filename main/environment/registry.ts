// All worlds by name. A new built-in world is a folder that exports a `World`, and one line here; plug-ins add theirs at run time
// (main/plugin/), and what is registered last is listed last.

import type { World } from './environment.ts';
import { EXTERNAL_FAILURES, type FailureClass, failureClasses, USUAL_FAILURES } from './failures.ts';
import { banditWorld } from './bandit/world.ts';
import { frozenLakeWorld } from './frozenlake/world.ts';
import { mathsWorld } from './maths/world.ts';
import { shopWorld } from './shop/world.ts';
import { sokobanWorld } from './sokoban/world.ts';
import { webshopWorld } from './webshop/world.ts';
import { wordleWorld } from './wordle/world.ts';

export const BUILT_IN_WORLDS: readonly World[] = [
  shopWorld,
  webshopWorld,
  mathsWorld,
  frozenLakeWorld,
  sokobanWorld,
  banditWorld,
  wordleWorld,
];

/** The world of a config that names none. */
export const DEFAULT_WORLD: string = shopWorld.name;

const registered: World[] = [...BUILT_IN_WORLDS];
/** The built-in worlds and those of plug-ins. */
export const WORLDS: readonly World[] = registered;

/** Adds the world of a plug-in. */
export function registerWorld(world: World): void {
  if (registered.some(({ name }) => name === world.name)) {
    throw new Error(`There is already a world named "${world.name}": give this one another name`);
  }
  registered.push(world);
}

/** Takes the worlds of plug-ins out again. */
export function forgetWorlds(): void {
  registered.splice(BUILT_IN_WORLDS.length);
}

export function findWorld(name: string): World {
  const world = WORLDS.find((candidate) => candidate.name === name);
  if (!world) throw new Error(`There is no world "${name}"; there are ${WORLDS.map((candidate) => candidate.name).join(', ')}`);
  return world;
}

/** The failure classes of all worlds, each once: what the glossary explains and stored episodes may name. */
export function allFailures(): FailureClass[] {
  const [first, second, ...rest] = failureClasses([
    ...WORLDS.flatMap(({ failures }) => failures ?? []),
    ...EXTERNAL_FAILURES,
    ...USUAL_FAILURES,
  ]);
  const found = new Map([...rest, first, second].flatMap((failure) => (failure ? [[failure.id, failure] as const] : [])));
  return [...found.values()];
}
