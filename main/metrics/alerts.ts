// The signs of trouble that users of such systems learned to look for, each with the advice that helped: V* at the bottom,
// advantages without signal, spread of rewards gone, the echo trap (spread and entropy fall, then the gradient norm spikes).
// Works on the recorded history alone, so it can also be asked about an old run; a run keeps the little it needs in its
// checkpoints, so that a resumed one raises the same alerts.

import { deviation, mean } from '../statistics.ts';

/** The metrics of one update, as far as the rules look at them. */
export type Seen = Readonly<Record<string, number>>;

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
  'evaluation.success',
];
const LOOKBACK = 60;

/** The history with one more update, no longer than the rules look back. */
export function remember(history: readonly Seen[], values: Seen): Seen[] {
  const seen = WATCHED.flatMap((id): [string, number][] => {
    const value = values[id];
    return value !== undefined && Number.isFinite(value) ? [[id, value]] : [];
  });
  return [...history, Object.fromEntries(seen)].slice(-LOOKBACK);
}

export interface Alert {
  readonly id: string;
  /** What was seen, with its numbers. */
  readonly sign: string;
  readonly advice: string;
}

/** How many updates a sign must last, and how many make up "before". */
const WINDOW = 5;

type Rule = (history: readonly Seen[]) => Alert | undefined;

const percent = (share: number) => `${(100 * share).toFixed(0)}%`;

/** The last `count` values of a metric that were recorded. */
function last(history: readonly Seen[], id: string, count = WINDOW, skip = 0): number[] {
  const values = history.flatMap((seen) => seen[id] ?? []);
  return values.slice(Math.max(0, values.length - skip - count), values.length - skip);
}

const unsolved: Rule = (history) => {
  const [share] = last(history, 'vstar.unsolved', 1);
  if (share === undefined || share < 0.9) return undefined;
  return {
    id: 'vstar-bottom',
    sign: `${percent(share)} of the tasks were solved by no reference sample, so V* is at the bottom almost everywhere`,
    advice: 'Take more samples per task (12–16), start at an easier level, or train a better reference.',
  };
};

const noAdvantage: Rule = (history) => {
  const positive = last(history, 'advantage.positive');
  const spread = last(history, 'advantage.std');
  if (positive.length < WINDOW || spread.length < WINDOW) return undefined;
  if (Math.max(...positive) > 0.02 && Math.max(...spread) > 1e-3) return undefined;
  const success = last(history, 'rollout.success');
  // With everything solved there is nothing left to gain, which is no trouble.
  if (success.length > 0 && mean(success) > 0.95) return undefined;
  return {
    id: 'no-advantage',
    sign: `For ${WINDOW} updates hardly any advantage was above zero (at most ${percent(Math.max(...positive))}; spread ${Math.max(...spread).toFixed(3)})`,
    advice: 'The policy never beats V*: check the share of valid actions, raise the temperature, or use an easier level.',
  };
};

const flatGroups: Rule = (history) => {
  const flat = last(history, 'group.flat');
  if (flat.length < WINDOW || Math.min(...flat) < 0.9) return undefined;
  return {
    id: 'flat-groups',
    sign: `In ${percent(mean(flat))} of the groups all rewards were equal over the last ${WINDOW} updates`,
    advice: 'There is no signal: filter the groups by variance, or change the level.',
  };
};

const echoTrap: Rule = (history) => {
  const spread = last(history, 'rollout.return.std');
  const spreadBefore = last(history, 'rollout.return.std', WINDOW, WINDOW);
  const entropy = last(history, 'rollout.entropy');
  const entropyBefore = last(history, 'rollout.entropy', WINDOW, WINDOW);
  const success = last(history, 'rollout.success');
  if (spreadBefore.length < WINDOW || entropyBefore.length < WINDOW || success.length < WINDOW) return undefined;
  const falling = mean(spread) < 0.5 * mean(spreadBefore) && mean(entropy) < 0.5 * mean(entropyBefore);
  if (!falling || mean(success) > 0.9) return undefined;
  return {
    id: 'echo-trap',
    sign: `Spread of returns and entropy both halved within ${2 * WINDOW} updates (spread ${mean(spread).toFixed(3)}, entropy ${mean(entropy).toFixed(3)}) at ${percent(mean(success))} success`,
    advice: 'The policy repeats itself: raise the entropy bonus or the temperature, strengthen the KL, or filter groups by variance.',
  };
};

const gradientSpike: Rule = (history) => {
  const [now] = last(history, 'gradient.norm', 1);
  const before = last(history, 'gradient.norm', 4 * WINDOW, 1);
  if (now === undefined || before.length < 2 * WINDOW) return undefined;
  const usual = mean(before) + 6 * deviation(before);
  if (now <= usual || now < 3 * mean(before)) return undefined;
  // When nearly everything succeeds, gradients are tiny and a single failure stands out: no trouble.
  const success = last(history, 'rollout.success');
  if (success.length > 0 && mean(success) > 0.9) return undefined;
  return {
    id: 'gradient-spike',
    sign: `The gradient norm jumped to ${now.toPrecision(3)}; it was ${mean(before).toPrecision(3)} on average over the last ${before.length} updates`,
    advice: 'Lower the learning rate or the clipping norm; after a fall of reward spread and entropy this is the echo trap’s last stage.',
  };
};

const invalidActions: Rule = (history) => {
  const valid = last(history, 'rollout.valid');
  if (valid.length < WINDOW || mean(valid) > 0.5) return undefined;
  return {
    id: 'invalid-actions',
    sign: `Only ${percent(mean(valid))} of the actions were valid over the last ${WINDOW} updates`,
    advice: 'Check that generation is masked by the world’s grammar, and that the context is long enough to show what can be done.',
  };
};

const collapse: Rule = (history) => {
  const all = last(history, 'evaluation.success', Infinity);
  const now = all.at(-1);
  const best = Math.max(...all);
  if (now === undefined || best - now < 0.2) return undefined;
  return {
    id: 'collapse',
    sign: `Validation success fell to ${percent(now)}; its best was ${percent(best)}`,
    advice: 'Go on from the best checkpoint with a lower learning rate or a stronger KL.',
  };
};

const rules: readonly Rule[] = [unsolved, noAdvantage, flatGroups, echoTrap, gradientSpike, invalidActions, collapse];

/** The signs that the history shows now. */
export function alertsOf(history: readonly Seen[]): Alert[] {
  return rules.flatMap((rule) => rule(history) ?? []);
}

/** Advice for failures that show as errors instead of numbers. */
export function adviceFor(message: string): string | undefined {
  if (/out of memory|bad_alloc|allocate memory|heap/i.test(message)) {
    return 'Out of memory: use a smaller training.microBatch (the update stays the same, it is accumulated), shorter episodes or a smaller policy.contextLength.';
  }
  if (/not finite|NaN|Infinity/i.test(message)) return 'Lower the learning rate or training.clip; the last good checkpoint was kept.';
  return undefined;
}
