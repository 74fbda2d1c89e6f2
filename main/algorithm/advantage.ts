// Plain-number mathematics that several algorithms share: normalising, clamping, group advantages, GAE and bi-level GAE.
// Nothing here touches a graph; every function is total: empty input gives empty output and a spread of zero gives
// zeros, so an empty generation can never turn into NaN.

import { deviation, mean } from '../base/statistics.ts';

const TINY = 1e-8;

/** (x − mean) / (std + 1e-8). A batch without spread becomes zeros. */
export function normalise(values: ArrayLike<number>): Float32Array {
  const centre = mean(values);
  const spread = deviation(values);
  return Float32Array.from(values, (value) => (value - centre) / (spread + TINY));
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Indices of equal keys, in order of first appearance. */
export function groupBy(keys: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  keys.forEach((key, index) => {
    const group = groups.get(key);
    if (group) group.push(index);
    else groups.set(key, [index]);
  });
  return [...groups.values()];
}

/**
 * Generalised advantage estimation over one episode, the end worth nothing:
 * δ_t = r_t + γ·V_{t+1} − V_t and A_t = δ_t + γλ·A_{t+1}. Returns are A + V.
 */
export function gae(rewards: ArrayLike<number>, values: ArrayLike<number>, gamma: number, lambda: number) {
  const length = rewards.length;
  if (values.length !== length)
    throw new RangeError(`gae expects one value per reward: found ${values.length} values and ${length} rewards`);
  const advantages = new Float32Array(length);
  const returns = new Float32Array(length);
  let next = 0;
  for (let t = length - 1; t >= 0; t--) {
    const delta = rewards[t]! + gamma * (t + 1 < length ? values[t + 1]! : 0) - values[t]!;
    next = delta + gamma * lambda * next;
    advantages[t] = next;
    returns[t] = next + values[t]!;
  }
  return { advantages, returns };
}

/**
 * Bi-level GAE (RAGEN): first GAE over the turns, taken at each turn's last token with γ_turn; the turn's return then is
 * the reward at that token, and GAE runs again inside each turn, starting afresh at its last token.
 * `turnEnds` are the ascending indices of the turns' last tokens.
 */
export function biLevelGae(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  turnEnds: readonly number[],
  gammaTurn: number,
  gamma: number,
  lambda: number,
) {
  const turns = gae(
    turnEnds.map((end) => rewards[end]!),
    turnEnds.map((end) => values[end]!),
    gammaTurn,
    lambda,
  );
  const advantages = new Float32Array(rewards.length);
  const returns = new Float32Array(rewards.length);
  let start = 0;
  turnEnds.forEach((end, turn) => {
    const inner = Array.from({ length: end + 1 - start }, (_, i) => rewards[start + i]!);
    inner[end - start] = turns.returns[turn]!;
    const within = gae(
      inner,
      inner.map((_, i) => values[start + i]!),
      gamma,
      lambda,
    );
    advantages.set(within.advantages, start);
    returns.set(within.returns, start);
    start = end + 1;
  });
  return { advantages, returns };
}
