// The maths tasks as registry.ts lists them.

import type { World } from '../environment.ts';
import { blind, demonstrate, heuristic, MATHS_MISTAKES } from './demonstrator.ts';
import { createMaths, MATHS_FAILURES, mathsSettings, type Maths, type MathsState } from './maths.ts';

export const mathsWorld = {
  name: 'maths',
  title: 'Maths',
  summary: "TinyZero's multiplication and countdown: one question, one answer, in three levels of difficulty.",
  settings: mathsSettings,
  mistakes: MATHS_MISTAKES,
  failures: MATHS_FAILURES,
  flagship: 'maths-multiplication',
  instruction: 'You solve the task. Reply with the answer.',
  create: createMaths,
  blind,
  heuristic,
  demonstrate,
} satisfies World<MathsState> & { create(settings: unknown): Maths };
