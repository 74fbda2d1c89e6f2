// A distribution at one update as bars. The bins stay where they are while the slider moves through the updates, so that
// what moves is the distribution.

import { useState } from 'react';
import type { Histogram, Metric } from '../../main/lab/features/metrics.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { callOptions } from '../bridge.ts';
import { FigureMenu } from '../charts/chart-menu.tsx';
import { useChartTheme } from '../charts/theme.ts';
import { Dialog } from '../components/dialog.tsx';
import { formatValue } from '../format.ts';
import { edgeText, histogramFigure, histogramPicture } from './histogram-figure.ts';
import { MetricExplain } from './metric-explain.tsx';
import styles from './live.module.css';

const WIDTH = 320;
const HEIGHT = 120;
/** Room for the counts at the left. */
const LEFT = 34;

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
  const [large, setLarge] = useState(false);
  const theme = useChartTheme();
  const metric = glossary.get(name);
  const unit = metric?.unit ?? '';
  const shown = query.data?.histogram ?? null;
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
        {shown && (
          <FigureMenu
            title={title}
            figure={(format) => histogramFigure(title, unit, shown, format)}
            picture={() => histogramPicture(title, unit, shown, theme)}
            onFullScreen={() => setLarge(true)}
          />
        )}
      </figcaption>
      {shown ? (
        <>
          <Bars title={title} unit={unit} shown={shown} />
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
      <Dialog open={large} onClose={() => setLarge(false)} title={title} width={1100}>
        {large && shown && <Bars title={title} unit={unit} shown={shown} />}
      </Dialog>
    </figure>
  );
}

function Bars({ title, unit, shown }: { title: string; unit: string; shown: Histogram }) {
  const most = Math.max(1, ...shown.counts);
  const high = shown.low + shown.width * shown.counts.length;
  const wide = (WIDTH - LEFT) / shown.counts.length;
  const mean = LEFT + ((shown.mean - shown.low) / (high - shown.low)) * (WIDTH - LEFT);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT + 30}`}
      className={styles.bars}
      role="img"
      aria-label={`${title}: ${shown.n} values from ${formatValue(shown.low)} to ${formatValue(high)}, mean ${formatValue(shown.mean)}`}
    >
      {[most, most / 2, 0].map((count) => (
        <g key={count}>
          <line x1={LEFT} x2={WIDTH} y1={HEIGHT - (count / most) * HEIGHT} y2={HEIGHT - (count / most) * HEIGHT} className={styles.base} />
          <text x={LEFT - 5} y={HEIGHT - (count / most) * HEIGHT + 8} className={styles.tick} textAnchor="end">
            {edgeText(count)}
          </text>
        </g>
      ))}
      {shown.counts.map((count, index) => (
        <rect
          key={index}
          x={LEFT + index * wide + 0.5}
          width={Math.max(0.5, wide - 1)}
          y={HEIGHT - (count / most) * HEIGHT}
          height={(count / most) * HEIGHT}
          className={styles.bar}
        >
          <title>{`${edgeText(shown.low + index * shown.width)} to ${edgeText(shown.low + (index + 1) * shown.width)}: ${count}`}</title>
        </rect>
      ))}
      <line x1={mean} x2={mean} y1={0} y2={HEIGHT} className={styles.mean} />
      <text x={LEFT} y={HEIGHT + 13} className={styles.tick}>
        {edgeText(shown.low)}
      </text>
      <text x={(WIDTH + LEFT) / 2} y={HEIGHT + 13} className={styles.tick} textAnchor="middle">
        {edgeText((shown.low + high) / 2)}
      </text>
      <text x={(WIDTH + LEFT) / 2} y={HEIGHT + 26} className={styles.tick} textAnchor="middle">
        {unit === '' ? 'value' : unit} (bars: count)
      </text>
      <text x={WIDTH} y={HEIGHT + 13} className={styles.tick} textAnchor="end">
        {edgeText(high)}
      </text>
    </svg>
  );
}
