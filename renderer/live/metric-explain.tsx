// A metric's glossary entries in place: what it is, its unit, which way is good.

import type { Metric } from '../../main/lab/features/metrics.ts';
import { Explain } from '../components/tooltip.tsx';
import styles from './live.module.css';

const WAYS = { up: 'Higher is better.', down: 'Lower is better.', neither: 'Neither direction is better by itself.' } as const;

export function MetricExplain({ title, metrics }: { title: string; metrics: readonly Metric[] }) {
  if (metrics.length === 0) return null;
  return (
    <Explain what={title} title={title}>
      {metrics.map(({ id, name, formula, unit, direction }) => (
        <p key={id} className={styles.entry}>
          {metrics.length > 1 && <strong>{name}: </strong>}
          {formula}. {unit && unit !== 'share' ? `In ${unit}. ` : ''}
          {WAYS[direction]}
        </p>
      ))}
    </Explain>
  );
}
