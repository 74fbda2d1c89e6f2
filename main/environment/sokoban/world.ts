// Sokoban as registry.ts lists it.

import type { World } from '../environment.ts';
import { blind, demonstrate, heuristic, SOKOBAN_MISTAKES } from './demonstrator.ts';
import { createSokoban, SOKOBAN_FAILURES, type Sokoban, sokobanSettings, type SokobanState } from './sokoban.ts';

export const sokobanWorld = {
  name: 'sokoban',
  title: 'Sokoban',
  summary: 'Push one box onto its target in a room of 6 × 6 cells; it can be pushed, never pulled. Every task is another solvable level.',
  settings: sokobanSettings,
  mistakes: SOKOBAN_MISTAKES,
  failures: SOKOBAN_FAILURES,
  flagship: 'sokoban',
  create: createSokoban,
  blind,
  heuristic,
  demonstrate,
} satisfies World<SokobanState> & { create(settings: unknown): Sokoban };
