// Which step of a stored episode earned or lost its reward. The policy of its run plays the task a few times more, so that there is a group to
// compare with, and plays on from the state before every step, which gives each state's value. From these every method of credit
// (algorithm/credit.ts) has its advantage, side by side.

import type { Catalog } from '../config/catalog.ts';
import { type Branches, type CreditMethod, creditMethods, creditSettings, groupCredit, turnRewards } from '../algorithm/credit.ts';
import { Random } from '../base/random.ts';
import { wilson } from '../base/statistics.ts';
import { playBranches } from '../rollout/branch.ts';
import type { EpisodeRequest } from '../rollout/episode.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { Store } from '../store/store.ts';
import { runOfEpisode } from '../store/trajectories.ts';
import { policyOfRun } from './policies.ts';
import { readerOf, retrace } from './replay.ts';

export interface CreditJob {
  readonly dataFolder: string;
  readonly episode: number;
  /** Episodes of the task that the methods compare, the stored one among them. */
  readonly group: number;
  /** Continuations from the state before each step. */
  readonly branches: number;
  readonly temperature: number;
  readonly progress?: (done: number, total: number) => void;
  /** Aborted: the work ends between two calls of the model. */
  readonly signal?: AbortSignal;
}

export interface StepCredit {
  readonly step: number;
  readonly action: string;
  readonly reward: number;
  /** In reward, not divided by any spread. */
  readonly advantages: Readonly<Record<CreditMethod, number>>;
  /** The advantage that training gave, where it was stored. */
  readonly trained: number | null;
  /** Success from the state before the step: k of n continuations, with the Wilson 95% interval. */
  readonly exact: { readonly value: number; readonly low: number; readonly high: number; readonly k: number; readonly n: number };
}

export interface EpisodeCredit {
  readonly episode: number;
  readonly run: number;
  readonly task: string;
  readonly success: boolean;
  /** The update whose checkpoint played on; the nearest to the one that acted. */
  readonly update: number;
  readonly temperature: number;
  readonly group: number;
  readonly steps: readonly StepCredit[];
  /** The step with the largest fall of the exact value; null for a success, or where nothing fell. */
  readonly lostAt: number | null;
  readonly cost: { readonly episodes: number; readonly steps: number; readonly tokens: number };
}

/** γ and the other numbers of the methods, where a run's algorithm has none of its own. */
const DEFAULTS = {
  creditDiscount: creditSettings.creditDiscount.parse(undefined),
  creditWeight: creditSettings.creditWeight.parse(undefined),
  creditHistory: creditSettings.creditHistory.parse(undefined),
};

export async function episodeCredit(catalog: Catalog, job: CreditJob): Promise<EpisodeCredit> {
  const store = Store.read(job.dataFolder, catalog);
  try {
    const recorded = store.trajectories.read(job.episode);
    const run = store.runs.get(runOfEpisode(job.episode));
    const { environment, findTask } = readerOf(catalog, run, store.dataFolder);
    const task = findTask(recorded);
    const traced = task && retrace(environment, task, recorded);
    if (!traced)
      throw new Error('Today’s world no longer plays this episode as it was recorded, so nothing can be played on from its steps');
    const policy = policyOfRun(store, run.id, nearestCheckpoint(store, run.id, recorded.update));
    const draw = drawAt(job.temperature);
    const request: EpisodeRequest = {
      task,
      seed: recorded.seed,
      purpose: 'evaluation',
      update: policy.update,
      relabel: false,
      level: traced.level,
    };
    const total = job.group - 1 + recorded.steps.length * job.branches;
    let done = 0;
    const options = { progress: () => job.progress?.(++done, total), ...(job.signal && { signal: job.signal }) };
    try {
      const others = Array.from({ length: job.group - 1 }, (_, copy) => ({
        ...request,
        seed: environment.chance ? Random.from('credit', job.episode, copy).integer() : recorded.seed,
        drawSeed: Random.from('credit-draw', job.episode, copy).integer(),
      }));
      const group = [recorded, ...(await rollout(policy.player, others, draw, options)).map(({ trajectory }) => trajectory)];
      const played = await playBranches(
        policy.player,
        [{ request, trajectory: recorded }],
        { count: job.branches, first: 0, name: ['credit', job.episode], draw },
        options,
      );
      const { settings, reward } = creditOf(policy.setup.config);
      const steps = creditOfSteps(group, played.continuations[0] ?? [], settings, reward);
      const tokens = group.slice(1).flatMap((one) => one.steps.map((step) => step.tokens.ids.length));
      return {
        episode: job.episode,
        run: run.id,
        task: recorded.task,
        success: recorded.success,
        update: policy.update,
        temperature: job.temperature,
        group: group.length,
        steps,
        lostAt: recorded.success ? null : largestFall(steps),
        cost: {
          episodes: played.cost.episodes + group.length - 1,
          steps: played.cost.steps + tokens.length,
          tokens: played.cost.tokens + tokens.reduce((sum, count) => sum + count, 0),
        },
      };
    } finally {
      await policy.player.sampler.dispose();
    }
  } finally {
    store.close();
  }
}

function nearestCheckpoint(store: Store, run: number, update: number): number | undefined {
  const updates = store.checkpoints.list(run).map((checkpoint) => checkpoint.update);
  return updates.toSorted((a, b) => Math.abs(a - update) - Math.abs(b - update))[0];
}

type Numbers = typeof DEFAULTS;

/** The run's own discount and weights of credit, where its algorithm has them. */
function creditOf({ algorithm, training }: { readonly algorithm: object; readonly training: { readonly reward: 'binary' | 'shaped' } }) {
  const own = Object.fromEntries(Object.entries(algorithm).filter(([name]) => name in DEFAULTS));
  return { settings: { ...DEFAULTS, ...own } satisfies Numbers, reward: training.reward };
}

/** The first episode of the group is the one that is asked about. */
function creditOfSteps(
  group: readonly Trajectory[],
  continuations: readonly (readonly Trajectory[])[],
  numbers: Numbers,
  reward: 'binary' | 'shaped',
): StepCredit[] {
  const [asked] = group;
  if (!asked) throw new RangeError('Expected at least one episode, found none');
  const branches: Branches = [
    continuations.map((list, turn) => list.map((one) => turnRewards({ steps: one.steps.slice(turn), success: one.success }, reward))),
  ];
  const byMethod = creditMethods.map((credit) => {
    const settings = { ...numbers, credit, creditBranches: 1, divideBySpread: false };
    const of = credit === 'branch' ? [asked] : group;
    return [credit, groupCredit(of, settings, { reward, branches })[0] ?? new Float32Array()] as const;
  });
  return asked.steps.map(({ action, reward: got, tokens }, turn) => {
    const list = continuations[turn] ?? [];
    const k = list.filter(({ success }) => success).length;
    const { low, high } = wilson(k, list.length);
    return {
      step: turn + 1,
      action,
      reward: got,
      advantages: Object.fromEntries(byMethod.map(([name, turns]) => [name, turns[turn] ?? 0])) as Record<CreditMethod, number>,
      trained: tokens.advantages.length === 0 ? null : tokens.advantages.reduce((sum, value) => sum + value, 0) / tokens.advantages.length,
      exact: { value: list.length === 0 ? 0 : k / list.length, low, high, k, n: list.length },
    };
  });
}

/** Where the chance of success fell most, the end being worth nothing. */
function largestFall(steps: readonly StepCredit[]): number | null {
  const falls = steps.map(({ exact }, i) => exact.value - (steps[i + 1]?.exact.value ?? 0));
  const most = Math.max(0, ...falls);
  return most === 0 ? null : falls.indexOf(most) + 1;
}
