// Performance profiles: the share of an arm's runs, in all worlds, whose success is above τ (Agarwal et al. 2021), with a pointwise
// 95% bootstrap band. Runs are resampled within their world, so every world keeps its weight.

import { Random } from '../base/random.ts';
import { quantile } from '../base/statistics.ts';
import type { Store } from '../store/store.ts';

export interface Profile {
  /** Runs behind it. */
  readonly n: number;
  readonly value: number[];
  readonly low: number[];
  readonly high: number[];
}

export const TAUS: readonly number[] = Array.from({ length: 51 }, (_, index) => index / 50);
const RESAMPLES = 1000;

/** `worlds` holds the success rates of the arm's runs in each world; every world counts the same. */
export function performanceProfile(worlds: readonly (readonly number[])[], taus: readonly number[] = TAUS): Profile {
  const known = worlds.filter(({ length }) => length > 0);
  const above = (scores: readonly (readonly number[])[]): number[] =>
    taus.map((tau) => {
      const shares = scores.map((own) => own.filter((score) => score > tau).length / own.length);
      return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
    });
  const random = Random.from('profile', 0);
  const drawn = Array.from({ length: RESAMPLES }, () => above(known.map((own) => own.map(() => own[random.below(own.length)] ?? 0))));
  const at = (index: number, share: number): number =>
    quantile(
      drawn.map((curve) => curve[index] ?? 0).sort((a, b) => a - b),
      share,
    );
  return {
    n: known.reduce((sum, { length }) => sum + length, 0),
    value: above(known),
    low: taus.map((_, index) => at(index, 0.025)),
    high: taus.map((_, index) => at(index, 0.975)),
  };
}

/** The final success of every run of every arm, with its world. */
export function scoredArms(store: Store, groups: readonly { readonly key: string; readonly runs: readonly number[] }[]): ScoredArm[] {
  return groups.map(({ key, runs }) => ({
    key,
    runs: runs.map((id) => {
      const evaluation = store.evaluations.finalOrLatest(id);
      return { world: store.runs.get(id).world, rate: evaluation ? evaluation.success.k / Math.max(1, evaluation.success.n) : null };
    }),
  }));
}

interface ScoredArm {
  readonly key: string;
  readonly runs: readonly Scored[];
}

interface Scored {
  readonly world: string;
  /** Test success; null when it was not evaluated. */
  readonly rate: number | null;
}

export interface ArmProfile extends Profile {
  readonly key: string;
}

/** The worlds, and the profile of every arm that ran in more than one of them; none where there is only one world. */
export function armProfiles(arms: readonly ScoredArm[]): {
  readonly worlds: string[];
  readonly profiles: ArmProfile[];
} {
  const known = arms.map(({ key, runs }) => ({ key, runs: runs.filter(({ rate }) => rate !== null) }));
  const worlds = [...new Set(known.flatMap(({ runs }) => runs.map(({ world }) => world)))].sort();
  if (worlds.length < 2) return { worlds, profiles: [] };
  const profiles = known.flatMap(({ key, runs }) => {
    const byWorld = [...Map.groupBy(runs, ({ world }) => world).values()].map((own) => own.map(({ rate }) => rate ?? 0));
    return byWorld.length < 2 ? [] : [{ key, ...performanceProfile(byWorld) }];
  });
  return { worlds, profiles };
}
