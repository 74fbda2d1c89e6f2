// Signs of trouble that users of such systems learned to look for, each with the advice that helped: V* at the bottom, advantages
// without signal, spread of rewards gone, the echo trap (spread and entropy fall, then the gradient norm spikes), collapse. Each is a
// test at its sample size, so that chance at n = 20 raises none; an alert clears when its test no longer holds, and names the metrics it
// is about. Works on the recorded history alone; a run keeps the little that is needed in its checkpoints, so that a resumed one agrees.

import { z } from 'zod';
import { at } from '../base/indexed.ts';
import { deviation, fisher, mean, wilson } from '../base/statistics.ts';

/** The metrics of one update that the rules look at, and how many episodes, actions … they rest on. */
export type Observed = Readonly<Record<string, number>>;

/** One validation: k of n tasks solved. */
export const Validation = z.strictObject({ update: z.int(), k: z.int(), n: z.int() });
export type Validation = z.infer<typeof Validation>;

export interface History {
  readonly updates: readonly Observed[];
  /** All validations of the run, the one before the first update included. */
  readonly validations: readonly Validation[];
}

const WATCHED = [
  'vstar.unsolved',
  'advantage.positive',
  'advantage.std',
  'group.flat',
  'rollout.return.std',
  'rollout.entropy',
  'rollout.success',
  'rollout.valid',
  'gradient.norm',
];
const LOOKBACK = 60;

/** How many of each a share in the metrics of an update rests on. */
export interface Counts {
  readonly episodes: number;
  readonly groups: number;
  readonly actions: number;
  /** Tasks with a V*. */
  readonly tasks: number;
}

/** The updates with one more, no longer than the rules look back. */
export function remember(updates: readonly Observed[], values: Observed, counts: Counts): Observed[] {
  const watched = WATCHED.flatMap((id): [string, number][] => {
    const value = values[id];
    return value !== undefined && Number.isFinite(value) ? [[id, value]] : [];
  });
  const sizes = Object.entries(counts).map(([name, count]): [string, number] => [`count.${name}`, count]);
  return [...updates, Object.fromEntries([...watched, ...sizes])].slice(-LOOKBACK);
}

export interface Alert {
  readonly id: string;
  readonly title: string;
  /** The metrics it is about: where the window marks it. */
  readonly metrics: readonly string[];
  /** What was observed, with its numbers. */
  readonly sign: string;
  readonly advice: string;
}

/** How many updates a sign must last, and how many make up "before". */
const WINDOW = 5;
/** Chance of a false alarm over all pairs of validations that were compared so far. */
const COLLAPSE_ALPHA = 0.02;

interface Rule {
  readonly id: string;
  readonly title: string;
  readonly metrics: readonly string[];
  readonly advice: string;
  /** What was observed, or undefined while all is well. */
  readonly sign: (history: History) => string | undefined;
}

const percent = (share: number) => `${(100 * share).toFixed(0)}%`;

/** The last `count` values of a metric that were recorded. */
function last({ updates }: History, id: string, count = WINDOW, skip = 0): number[] {
  const values = updates.flatMap((observed) => observed[id] ?? []);
  return values.slice(Math.max(0, values.length - skip - count), values.length - skip);
}

/** A share over the last `window` updates, with its 95% interval; undefined while there are fewer. */
function pooled({ updates }: History, id: string, of: keyof Counts, window = WINDOW) {
  const parts = updates.flatMap((observed) => {
    const [share, n] = [observed[id], observed[`count.${of}`]];
    return share !== undefined && n !== undefined ? [{ k: share * n, n }] : [];
  });
  const recent = parts.slice(-window);
  if (recent.length < window) return undefined;
  const sum = (which: 'k' | 'n'): number => recent.reduce((total, part) => total + part[which], 0);
  return wilson(Math.round(sum('k')), sum('n'));
}

const mostlySolved = (history: History, share: number): boolean => {
  const success = last(history, 'rollout.success');
  return success.length > 0 && mean(success) > share;
};

/** Whether each of the last values lies below each of those before them: for 5 and 5 a chance of 1 in 252 (rank-sum test). */
function fell(history: History, id: string): { now: number; before: number } | undefined {
  const [now, before] = [last(history, id), last(history, id, WINDOW, WINDOW)];
  if (now.length < WINDOW || before.length < WINDOW || Math.max(...now) >= Math.min(...before)) return undefined;
  return { now: mean(now), before: mean(before) };
}

/** The validation with the highest success, the first of equals. */
export function bestValidation(validations: readonly Validation[]): Validation | undefined {
  return validations.reduce<Validation | undefined>((best, one) => (!best || one.k / one.n > best.k / best.n ? one : best), undefined);
}

const rules: readonly Rule[] = [
  {
    id: 'vstar-bottom',
    title: 'V* at the bottom',
    metrics: ['vstar.unsolved', 'vstar.mean'],
    advice: 'Take more samples per task (12–16), start at an easier level or in a smaller world, or train a better reference.',
    sign(history) {
      const unsolved = pooled(history, 'vstar.unsolved', 'tasks', 1);
      if (!unsolved || unsolved.low < 0.85) return undefined;
      return `${percent(unsolved.rate)} of the ${unsolved.n} tasks were solved by no reference sample, so V* is at the bottom almost everywhere`;
    },
  },
  {
    id: 'no-advantage',
    title: 'No positive advantages',
    metrics: ['advantage.positive', 'advantage.std', 'advantage.mean'],
    advice: 'The policy never beats V*: check the share of valid actions, raise the temperature, or use an easier level.',
    sign(history) {
      const positive = pooled(history, 'advantage.positive', 'episodes');
      const spread = last(history, 'advantage.std');
      if (!positive || spread.length < WINDOW) return undefined;
      if (positive.high > 0.05 && Math.max(...spread) > 1e-3) return undefined;
      // With everything solved there is nothing left to gain, which is no trouble.
      if (mostlySolved(history, 0.95)) return undefined;
      return `Over ${WINDOW} updates ${percent(positive.rate)} of ${positive.n} advantages were above zero (spread at most ${Math.max(...spread).toFixed(3)})`;
    },
  },
  {
    id: 'flat-groups',
    title: 'Groups without spread',
    metrics: ['group.flat', 'group.spread', 'rollout.groupSpread'],
    advice: 'There is no signal: filter the groups by variance, or change the level.',
    sign(history) {
      const flat = pooled(history, 'group.flat', 'groups');
      if (!flat || flat.low < 0.85) return undefined;
      return `In ${percent(flat.rate)} of ${flat.n} groups all rewards were equal over the last ${WINDOW} updates`;
    },
  },
  {
    id: 'echo-trap',
    title: 'Echo trap',
    metrics: ['rollout.return.std', 'rollout.entropy', 'rollout.groupSpread', 'entropy'],
    advice: 'The policy repeats itself: raise the entropy bonus or the temperature, strengthen the KL, or filter groups by variance.',
    sign(history) {
      const [spread, entropy] = [fell(history, 'rollout.return.std'), fell(history, 'rollout.entropy')];
      if (!spread || !entropy || spread.now >= 0.5 * spread.before || entropy.now >= 0.5 * entropy.before) return undefined;
      if (mostlySolved(history, 0.9)) return undefined;
      const success = percent(mean(last(history, 'rollout.success')));
      return `Spread of returns and entropy both halved within ${2 * WINDOW} updates (spread ${spread.now.toFixed(3)}, entropy ${entropy.now.toFixed(3)}) at ${success} success`;
    },
  },
  {
    id: 'gradient-spike',
    title: 'Gradient spike',
    metrics: ['gradient.norm'],
    advice: 'Lower the learning rate or the clipping norm; after a fall of reward spread and entropy this is the echo trap’s last stage.',
    sign(history) {
      const [now] = last(history, 'gradient.norm', 1);
      const before = last(history, 'gradient.norm', 4 * WINDOW, 1);
      if (now === undefined || before.length < 2 * WINDOW) return undefined;
      const usual = mean(before) + 6 * deviation(before);
      // When nearly everything succeeds, gradients are tiny and a single failure stands out: no trouble.
      if (now <= usual || now < 3 * mean(before) || mostlySolved(history, 0.9)) return undefined;
      return `The gradient norm jumped to ${now.toPrecision(3)}; it was ${mean(before).toPrecision(3)} on average over the last ${before.length} updates`;
    },
  },
  {
    id: 'invalid-actions',
    title: 'Invalid actions',
    metrics: ['rollout.valid'],
    advice: 'Check that generation is masked by the world’s grammar, and that the context is long enough to show what can be done.',
    sign(history) {
      const valid = pooled(history, 'rollout.valid', 'actions');
      if (!valid || valid.high > 0.5) return undefined;
      return `Only ${percent(valid.rate)} of ${valid.n} actions were valid over the last ${WINDOW} updates`;
    },
  },
  {
    id: 'collapse',
    title: 'Validation success fell',
    metrics: ['evaluation.success', 'evaluation.return'],
    advice: 'Branch from the best checkpoint with a lower learning rate or a stronger KL.',
    sign({ validations }) {
      const best = bestValidation(validations);
      if (!best || validations.length < 2) return undefined;
      const now = at(validations, -1);
      const pairs = (validations.length * (validations.length - 1)) / 2;
      if (fisher(now.k, now.n, best.k, best.n) > COLLAPSE_ALPHA / pairs) return undefined;
      const show = ({ k, n, update }: Validation) => `${percent(k / n)} (${k} of ${n}) at update ${update}`;
      return `Validation success fell to ${show(now)}; its best was ${show(best)}`;
    },
  },
];

/** The alerts that are active after the last update of a history. */
export function alertsOf(history: History): Alert[] {
  return rules.flatMap(({ sign, ...rule }) => {
    const found = sign(history);
    return found === undefined ? [] : [{ ...rule, sign: found }];
  });
}

/** Title and metrics of an alert, also of one that is no longer active. */
export function alertById(id: string): Pick<Alert, 'id' | 'title' | 'metrics'> | undefined {
  return rules.find((rule) => rule.id === id);
}

/** What can be said before the first update: in a world with chance a maximum over samples takes luck for skill (docs/CHANCE.md). */
export function optimisticVstar(chance: boolean, estimator: string): Alert | undefined {
  if (!chance || estimator === 'mean') return undefined;
  return {
    id: 'vstar-optimistic',
    title: 'V* is optimistic',
    metrics: ['vstar.mean'],
    sign: `V* is optimistic: this world has chance, and the estimator ${estimator} counts lucky samples as if the policy could choose them`,
    advice: 'Set vstar.estimator=mean (the value of the reference), or a larger vstar.beta1; docs/CHANCE.md says why.',
  };
}
