// Wordle as registry.ts lists it.

import type { World } from '../environment.ts';
import { blind, demonstrate, heuristic, WORDLE_MISTAKES } from './demonstrator.ts';
import { createWordle, type Wordle, WORDLE_FAILURES, wordleSettings, type WordleState } from './wordle.ts';

export const wordleWorld = {
  name: 'wordle',
  title: 'Wordle',
  summary:
    'Find a word of five letters in six guesses, spelled letter by letter. The answers of the test split are never asked for in training.',
  settings: wordleSettings,
  mistakes: WORDLE_MISTAKES,
  failures: WORDLE_FAILURES,
  flagship: 'wordle',
  create: createWordle,
  blind,
  heuristic,
  demonstrate,
} satisfies World<WordleState> & { create(settings: unknown): Wordle };
