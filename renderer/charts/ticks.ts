// Where the ticks of an axis fall: at round numbers within what is shown, whole ones where only whole numbers exist (updates,
// episodes), round times on a time axis, and 1-2-5 of each decade on a log axis. No canvas in here.

export type AxisKind = 'whole' | 'number' | 'time';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
/** Steps between times that people count in, in seconds; beyond the last, whole days. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, MINUTE, 120, 300, 600, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/** About `most` ticks between `min` and `max`, both included where they are round themselves; at least two, or there is no scale to read. */
export function linearTicks(min: number, max: number, most: number, kind: AxisKind = 'number'): number[] {
  const ticks = roundTicks(min, max, most, kind);
  return ticks.length < 2 && kind === 'number' && max > min ? roundTicks(min, max, 2 * most, kind) : ticks;
}

function roundTicks(min: number, max: number, most: number, kind: AxisKind): number[] {
  if (!(max > min)) return Number.isFinite(min) ? [min] : [];
  const step = stepFor((max - min) / Math.max(1, most - 1), kind);
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** The smallest round step that is not below `least`. */
function stepFor(least: number, kind: AxisKind): number {
  if (kind === 'time') {
    const known = TIME_STEPS.find((step) => step >= least);
    if (least >= 1) return known ?? roundStep(least / DAY) * DAY;
  }
  return kind === 'whole' ? Math.max(1, roundStep(least)) : roundStep(least);
}

function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  // 2.5 would make halves of whole numbers.
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** 1, 2 and 5 of every decade while they fit, then 1 of every decade, then of every other; of less than a decade, linear ones. */
export function logTicks(min: number, max: number, most: number): number[] {
  if (!(min > 0) || !(max > min)) return min > 0 ? [min] : [];
  const [low, high] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const within = (values: readonly number[]): number[] => values.filter((value) => value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9));
  const decades = (every: number, factors: readonly number[]): number[] => {
    const powers = Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, index) => low + index * every);
    return within(powers.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`))));
  };
  const fine = decades(1, [1, 2, 5]);
  if (fine.length < 3) return linearTicks(min, max, most);
  if (fine.length <= most) return fine;
  for (let every = 1; ; every++) {
    const coarse = decades(every, [1]);
    if (coarse.length <= most) return coarse;
  }
}
