// FrozenLake as registry.ts lists it.

import type { World } from '../environment.ts';
import { blind, demonstrate, heuristic, LAKE_MISTAKES } from './demonstrator.ts';
import { createFrozenLake, type FrozenLake, LAKE_FAILURES, lakeSettings, type LakeState } from './frozenlake.ts';

export const frozenLakeWorld = {
  name: 'frozenlake',
  title: 'FrozenLake',
  summary: 'Walk over slippery ice to the goal: a new lake for every task, and a step may slip to the side. RAGEN’s sizes and rules.',
  settings: lakeSettings,
  mistakes: LAKE_MISTAKES,
  failures: LAKE_FAILURES,
  flagship: 'frozenlake',
  create: createFrozenLake,
  blind,
  heuristic,
  demonstrate,
} satisfies World<LakeState> & { create(settings: unknown): FrozenLake };
