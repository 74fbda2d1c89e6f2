// A distribution at one update as bars. The bins stay where they are while the slider moves through the updates, so that
// what moves is the distribution.

import { useState } from 'react';
import type { Metric } from '../../preload/contract/metrics.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { callOptions } from '../bridge.ts';
import { formatTick, formatValue } from '../format.ts';
import { MetricExplain } from './metric-explain.tsx';
import styles from './live.module.css';

const WIDTH = 320;
const HEIGHT = 120;

export function HistogramChart({
  run,
  name,
  title,
  glossary,
}: {
  run: number;
  name: string;
  title: string;
  glossary: ReadonlyMap<string, Metric>;
}) {
  const [chosen, setChosen] = useState<number | null>(null);
  const query = useQuery({ ...callOptions('metrics.histogram', { run, name, update: chosen }), placeholderData: keepPreviousData });
  const metric = glossary.get(name);
  const shown = query.data?.histogram ?? null;
  const most = shown ? Math.max(1, ...shown.counts) : 1;
  const at = shown ? shown.updates.indexOf(shown.update) : -1;
  return (
    <figure className={styles.histogram} aria-label={title}>
      <figcaption>
        <strong>{title}</strong>
        <span className={styles.remark}>{metric?.unit}</span>
        {metric && <MetricExplain title={title} metrics={[metric]} />}
        {shown && (
          <span className={styles.right}>
            n = {shown.n}, mean {formatValue(shown.mean)}
          </span>
        )}
      </figcaption>
      {shown ? (
        <>
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT + 16}`}
            className={styles.bars}
            role="img"
            aria-label={`${title}: ${shown.n} values from ${formatValue(shown.low)} to ${formatValue(shown.low + shown.width * shown.counts.length)}, mean ${formatValue(shown.mean)}`}
          >
            {shown.counts.map((count, index) => {
              const wide = WIDTH / shown.counts.length;
              const high = (count / most) * HEIGHT;
              return <rect key={index} x={index * wide + 0.5} width={wide - 1} y={HEIGHT - high} height={high} className={styles.bar} />;
            })}
            <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className={styles.base} />
            <line {...meanLine(shown)} y1={0} y2={HEIGHT} className={styles.mean} />
            <text x={0} y={HEIGHT + 13} className={styles.tick}>
              {formatTick(Number(shown.low.toPrecision(3)))}
            </text>
            <text x={WIDTH} y={HEIGHT + 13} className={styles.tick} textAnchor="end">
              {formatTick(Number((shown.low + shown.width * shown.counts.length).toPrecision(3)))}
            </text>
          </svg>
          {shown.updates.length > 1 && (
            <label className={styles.slider}>
              <input
                type="range"
                min={0}
                max={shown.updates.length - 1}
                value={at}
                aria-label={`Update of ${title}`}
                onChange={(event) => {
                  const next = Number(event.target.value);
                  setChosen(next === shown.updates.length - 1 ? null : (shown.updates[next] ?? null));
                }}
              />
              <span>
                update {shown.update}
                {chosen === null ? ' (latest)' : ''}
              </span>
            </label>
          )}
        </>
      ) : (
        <div className={styles.none}>Not used by this algorithm, or not recorded yet</div>
      )}
    </figure>
  );
}

function meanLine({ low, width, counts, mean }: { low: number; width: number; counts: readonly number[]; mean: number }) {
  const x = ((mean - low) / (width * counts.length)) * WIDTH;
  return { x1: x, x2: x };
}
