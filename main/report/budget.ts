// What a run spent: episodes, optimizer steps, tokens and V* samples. Equal numbers of updates are not equal budgets, because
// PPO and GRPO take several optimizer steps on the episodes of one update where others take one. Counted from what the run
// recorded (the metric `optimizerSteps`); a run that recorded nothing is counted from its config.

import { algorithmOf } from '../algorithm/registry.ts';
import { ConfigError, parseConfig, type RunConfig } from '../config/config.ts';
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

/** Optimizer steps that an algorithm takes on the episodes of one update. */
export function stepsPerUpdate({ algorithm }: Pick<RunConfig, 'algorithm'>): number {
  const { epochs, minibatches } = algorithmOf(algorithm).needs;
  return epochs * minibatches;
}

/** Null when the run's config no longer fits the schema. */
export function budgetOf(store: Pick<Store, 'metrics' | 'vstar'>, run: Run): Budget | null {
  const config = known(run);
  if (!config) return null;
  return {
    episodes: run.episodes,
    optimizerSteps: optimizerSteps(store, run, config),
    tokens: run.tokens,
    vstarSamples: store.vstar.samplesOf(run.id),
    branchEpisodes: store.metrics.series(run.id, 'branch.episodes').values.reduce((sum, count) => sum + count, 0),
  };
}

function known(run: Run): RunConfig | undefined {
  try {
    return parseConfig(run.config);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function optimizerSteps(store: Pick<Store, 'metrics'>, run: Run, config: RunConfig): number {
  const { values } = recordedSteps(store, run, config);
  return (values.at(-1) ?? 0) + Math.max(0, run.updates - values.length) * stepsPerUpdate(config);
}

/**
 * As the run counted them. Runs of version 0.1.0 did not: then from the episodes of each update, where one whose episodes were all
 * filtered out takes no step, and one with few episodes is not cut into more parts than it has.
 */
function recordedSteps(store: Pick<Store, 'metrics'>, run: Run, config: RunConfig): { updates: Int32Array; values: Float64Array } {
  const counted = store.metrics.series(run.id, 'optimizerSteps');
  if (counted.values.length > 0) return counted;
  const { epochs, minibatches } = algorithmOf(config.algorithm).needs;
  const { updates, values } = store.metrics.series(run.id, 'update.episodes');
  let steps = 0;
  return { updates, values: values.map((kept) => (steps += epochs * Math.min(minibatches, kept))) };
}

/** Optimizer steps after each update that recorded some; none when the config is not understood. */
export function stepsSoFar(store: Pick<Store, 'metrics'>, run: Run): { updates: Int32Array; values: Float64Array } {
  const config = known(run);
  return config ? recordedSteps(store, run, config) : { updates: new Int32Array(), values: new Float64Array() };
}

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
  /** In the order of the runs; a run whose config is not understood is left out. */
  readonly budgets: readonly (Budget & { readonly run: number })[];
  /** What differs between them, in words. */
  readonly unequal: readonly string[];
}

export function budgetsOf(store: Store, ids: readonly number[]): Budgets {
  const runs = ids.map((id) => store.runs.get(id));
  const spent = runs.map((run) => ({ run, budget: budgetOf(store, run) }));
  return {
    budgets: spent.flatMap(({ run, budget }) => (budget ? [{ run: run.id, ...budget }] : [])),
    unequal: unequalBudgets(spent.map(({ run, budget }) => ({ name: `run ${run.id}, ${run.variant}`, budget }))),
  };
}
