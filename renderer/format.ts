// Numbers for people: always the same width and unit wherever a metric appears. Units are those of the glossary.

import { bytes, duration, percent } from '../main/base/format.ts';

export { bytes as formatBytes, duration as formatDuration };

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Text at the beginning of a line. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A value with as many digits as mean something: 0.6241, 12.3, 4,120, 3.2e-5; shares as 62.4%. */
export function formatValue(value: number, unit = ''): string {
  if (Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (unit === 'share') return percent(value);
  const size = Math.abs(value);
  let text: string;
  if (size === 0) text = '0';
  else if (size < 1e-3 || size >= 1e7) text = value.toExponential(1);
  else if (Number.isInteger(value) || size >= 1000) text = whole.format(value);
  else text = value.toFixed(size < 1 ? 4 : size < 10 ? 3 : size < 100 ? 2 : 1);
  return text.replace('-', '−');
}

/** For axis ticks: short, and exact at the places where ticks fall. */
export function formatTick(value: number, unit = ''): string {
  if (unit === 'share') return `${Number((value * 100).toPrecision(6))}%`;
  const size = Math.abs(value);
  if (size >= 100_000) return compact.format(value).replace('-', '−');
  if (size >= 1000) return whole.format(value).replace('-', '−');
  if (size !== 0 && size < 1e-3) return value.toExponential(0).replace('-', '−');
  return String(Number(value.toPrecision(6))).replace('-', '−');
}

export function formatDate(milliseconds: number): string {
  return dateTime.format(milliseconds);
}
