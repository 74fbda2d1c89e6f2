// The built-in worlds. A new one is a folder that exports a `World`, and one line here; a catalog (main/config/catalog.ts) adds those of plug-ins.

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

/** A catalog (main/config/catalog.ts), as far as worlds go. */
export interface Worlds {
  readonly worlds: readonly World[];
}

export function findWorld({ worlds }: Worlds, name: string): World {
  const world = worlds.find((candidate) => candidate.name === name);
  if (!world) throw new Error(`There is no world "${name}"; there are ${worlds.map((candidate) => candidate.name).join(', ')}`);
  return world;
}

/** The failure classes of all worlds, each once: what the glossary explains and stored episodes may name. */
export function allFailures({ worlds }: Worlds): FailureClass[] {
  const [first, second, ...rest] = failureClasses([
    ...worlds.flatMap(({ failures }) => failures ?? []),
    ...EXTERNAL_FAILURES,
    ...USUAL_FAILURES,
  ]);
  const found = new Map([...rest, first, second].flatMap((failure) => (failure ? [[failure.id, failure] as const] : [])));
  return [...found.values()];
}
