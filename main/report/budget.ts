// What a run spent: episodes, optimizer steps, tokens and V* samples. Equal numbers of updates are not equal budgets, because
// PPO and GRPO take several optimizer steps on the episodes of one update where others take one.

import type { Series } from '../store/metrics.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { mean } from '../base/statistics.ts';

export interface Budget {
  /** Training episodes played. */
  readonly episodes: number;
  readonly optimizerSteps: number;
  /** Agent tokens of the training episodes. */
  readonly tokens: number;
  /** Episodes of the reference policy that V* was estimated from. */
  readonly vstarSamples: number;
  /** Continuations played for credit by branches. */
  readonly branchEpisodes: number;
}

export const BUDGETS = [
  'episodes',
  'optimizerSteps',
  'tokens',
  'vstarSamples',
  'branchEpisodes',
] as const satisfies readonly (keyof Budget)[];
export const BUDGET_NAMES: Readonly<Record<keyof Budget, string>> = {
  episodes: 'episodes',
  optimizerSteps: 'optimizer steps',
  tokens: 'tokens',
  vstarSamples: 'V* samples',
  branchEpisodes: 'continuations',
};

export function budgetOf(store: Pick<Store, 'metrics' | 'vstar'>, run: Run): Budget {
  return {
    episodes: run.episodes,
    optimizerSteps: stepsSoFar(store, run).values.at(-1) ?? 0,
    tokens: run.tokens,
    vstarSamples: store.vstar.samplesOf(run.id),
    branchEpisodes: store.metrics.series(run.id, 'branch.episodes').values.reduce((sum, count) => sum + count, 0),
  };
}

/** Optimizer steps after each update that recorded some. */
export const stepsSoFar = (store: Pick<Store, 'metrics'>, { id }: Pick<Run, 'id'>): Series => store.metrics.series(id, 'optimizerSteps');

/** The mean over the seeds of an arm. */
export function meanBudget(budgets: readonly Budget[]): Budget | null {
  if (budgets.length === 0) return null;
  const of = (key: keyof Budget): number => mean(budgets.map((budget) => budget[key]));
  return {
    episodes: of('episodes'),
    optimizerSteps: of('optimizerSteps'),
    tokens: of('tokens'),
    vstarSamples: of('vstarSamples'),
    branchEpisodes: of('branchEpisodes'),
  };
}

/** Budgets count as different from this ratio on. */
const NOTICEABLE = 1.1;
const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** What was not spent equally, from the least to the most; empty when the budgets are alike. */
export function unequalBudgets(sides: readonly { readonly name: string; readonly budget: Budget | null }[]): string[] {
  const spent = sides.flatMap(({ name, budget }) => (budget ? [{ name, budget }] : []));
  return BUDGETS.flatMap((key) => {
    const sorted = spent.toSorted((a, b) => a.budget[key] - b.budget[key]);
    const [least, most] = [sorted[0], sorted.at(-1)];
    if (!least || !most || most.budget[key] <= NOTICEABLE * least.budget[key]) return [];
    return [`${BUDGET_NAMES[key]} from ${whole(least.budget[key])} (${least.name}) to ${whole(most.budget[key])} (${most.name})`];
  });
}

export interface Budgets {
  /** In the order of the runs. */
  readonly budgets: readonly (Budget & { readonly run: number })[];
  /** What differs between them, in words. */
  readonly unequal: readonly string[];
}

export function budgetsOf(store: Store, ids: readonly number[]): Budgets {
  const runs = ids.map((id) => store.runs.get(id));
  const spent = runs.map((run) => ({ run, budget: budgetOf(store, run) }));
  return {
    budgets: spent.map(({ run, budget }) => ({ run: run.id, ...budget })),
    unequal: unequalBudgets(spent.map(({ run, budget }) => ({ name: `run ${run.id}, ${run.variant}`, budget }))),
  };
}
