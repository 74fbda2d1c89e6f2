// The bandit as registry.ts lists it.

import type { World } from '../environment.ts';
import { BANDIT_FAILURES, type Bandit, banditSettings, type BanditState, createBandit } from './bandit.ts';
import { BANDIT_MISTAKES, blind, demonstrate, heuristic } from './demonstrator.ts';

export const banditWorld = {
  name: 'bandit',
  title: 'Bandit',
  summary: 'Find the arm that pays best by pulling: new chances for every task, never shown. The regret stands beside Thompson sampling’s.',
  settings: banditSettings,
  mistakes: BANDIT_MISTAKES,
  failures: BANDIT_FAILURES,
  flagship: 'bandit',
  create: createBandit,
  blind,
  heuristic,
  demonstrate,
} satisfies World<BanditState> & { create(settings: unknown): Bandit };
