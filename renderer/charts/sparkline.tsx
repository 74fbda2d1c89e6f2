// A curve the size of a word, for tables: no axes, no interaction, its meaning in `label` for screen readers. Plain SVG,
// cheap enough for a few hundred rows at once.

import type { RunStyle } from '../theme/runs.ts';
import styles from './charts.module.css';

interface SparklineProps {
  label: string;
  values: readonly number[];
  look: RunStyle;
  /** The whole height; default: the values' own extremes. */
  range?: { readonly min: number; readonly max: number };
  width?: number;
  height?: number;
}

export function Sparkline({ label, values, look, range, width = 84, height = 20 }: SparklineProps) {
  const path = sparkPath(values, range, width, height);
  return (
    <svg className={styles.spark} width={width} height={height} role="img" aria-label={label}>
      <path d={path} fill="none" stroke={look.colour} strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  );
}

export function sparkPath(values: readonly number[], range: SparklineProps['range'], width: number, height: number): string {
  const finite = values.filter((value) => Number.isFinite(value));
  if (finite.length === 0) return '';
  const min = range?.min ?? Math.min(...finite);
  const max = range?.max ?? Math.max(...finite);
  const spread = max - min || 1;
  let pen = 'M';
  return values
    .map((value, index) => {
      if (!Number.isFinite(value)) {
        pen = 'M';
        return '';
      }
      const x = values.length === 1 ? width / 2 : (index / (values.length - 1)) * width;
      const y = height - 1 - ((value - min) / spread) * (height - 2);
      const part = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = 'L';
      return part;
    })
    .join('');
}
