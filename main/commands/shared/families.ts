// The commands by families: each is one file with a `register` function, loaded only when one of its commands is called. What the overview
// says of them stands in overview.mjs. To add a family, add one entry here and one there.

import type { Command } from 'commander';
import { field } from '../../base/indexed.ts';
import { summaries } from './overview.mjs';

type Load = () => Promise<{ register: (program: Command) => void }>;

export interface Family {
  readonly load: Load;
  /** How each is called, as the overview writes it, and what it does. */
  readonly commands: Readonly<Record<string, string>>;
}

const loaders: Readonly<Record<keyof typeof summaries, Load>> = {
  doctor: () => import('../doctor.ts'),
  plugin: () => import('../plugin.ts'),
  play: () => import('../play.ts'),
  train: () => import('../train.ts'),
  eval: () => import('../eval.ts'),
  demo: () => import('../demo.ts'),
  vstar: () => import('../vstar.ts'),
  credit: () => import('../credit.ts'),
  compare: () => import('../compare.ts'),
  tune: () => import('../tune.ts'),
  study: () => import('../study.ts'),
  cluster: () => import('../cluster.ts'),
  runs: () => import('../runs.ts'),
  gradients: () => import('../gradients.ts'),
  sources: () => import('../sources.ts'),
  presets: () => import('../presets.ts'),
  show: () => import('../show.ts'),
  export: () => import('../export.ts'),
  check: () => import('../check.ts'),
  graph: () => import('../graph.ts'),
  models: () => import('../models.ts'),
  generate: () => import('../generate.ts'),
  chars: () => import('../chars.ts'),
  completion: () => import('./completion.ts'),
};

export const families: readonly Family[] = Object.entries(summaries).map(([family, commands]) => ({
  load: field(loaders, family),
  commands,
}));

/** The family that has this command. */
export const familyOf = (name: string | undefined): Family | undefined =>
  families.find(({ commands }) => Object.keys(commands).some((term) => term.split(' ', 1)[0] === name));
