// Which card a run takes when several train at the same time: one that names only the kind (`cuda`) gets the first card that no other run of
// this queue uses. Through WebGPU the runtime's binding offers no choice among cards, so there all runs share one.

import { cardCount, isNumbered } from '../engine/gpu/device.ts';
import type { Run } from '../store/runs.ts';

/** The card for a run that asks for `device` while others use `taken`. With more runs than cards they share the first. */
export function chooseCard(device: string, taken: readonly string[], cards = cardCount): string {
  if (!isNumbered(device) || device.includes(':')) return device;
  const busy = new Set(taken.filter(isNumbered).map((one) => Number(one.split(':')[1] ?? 0)));
  if (!busy.has(0)) return device;
  const free = Array.from({ length: cards() }, (_, number) => number).find((number) => !busy.has(number));
  return free === undefined ? device : `${device}:${free}`;
}

/** The run with its card named; the stored config stays as it is. */
export function withCard(run: Run, taken: readonly string[], cards?: () => number): Run {
  const { config } = run;
  const device = chooseCard(config.device, taken, cards);
  return device === config.device ? run : { ...run, config: { ...config, device } };
}
