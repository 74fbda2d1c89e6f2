// The charts with data made from a formula: two runs, a mean with its interval, marks, an empty chart.

import { useMemo, useState } from 'react';
import { LineChart } from '../charts/line-chart.tsx';
import type { Mark, Series } from '../charts/series.ts';
import { Segmented } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { runStyle } from '../theme/runs.ts';
import styles from './gallery.module.css';

const POINTS = 10_000;
const MARKS: readonly Mark[] = [
  { x: 2_000, label: 'checkpoint', kind: 'checkpoint' },
  { x: 4_000, label: 'level 2', kind: 'level' },
  { x: 6_000, label: 'evaluation', kind: 'evaluation' },
];

/** A learning curve with ripples instead of noise: the same every time. */
function curve(end: number, speed: number, ripple: number): { x: number[]; y: number[] } {
  const x = Array.from({ length: POINTS }, (_, i) => i);
  const y = x.map((i) => end * (1 - Math.exp((-i * speed) / POINTS)) + ripple * Math.sin(i * 0.9) * Math.cos(i * 0.037));
  return { x, y };
}

export function GalleryCharts() {
  const [scale, setScale] = useState<'linear' | 'log'>('linear');
  const [smoothing, setSmoothing] = useState<'0' | '0.9' | '0.99'>('0.99');
  const [opened, setOpened] = useState('');
  const success = useMemo<Series[]>(
    () => [
      { id: 'a', label: 'a*-po, seed 1', look: runStyle(0), ...curve(0.78, 4, 0.06) },
      { id: 'b', label: 'grpo, seed 1', look: runStyle(1), ...curve(0.64, 3, 0.07) },
    ],
    [],
  );
  const kl = useMemo<Series[]>(() => {
    const mean = curve(0.08, 2, 0);
    return [
      {
        id: 'mean',
        label: 'a*-po, mean of 5 seeds',
        look: runStyle(2),
        ...mean,
        low: mean.y.map((value) => value * 0.8),
        high: mean.y.map((value) => value * 1.2),
      },
    ];
  }, []);
  return (
    <>
      <div className={styles.row}>
        <Segmented
          label="Axis"
          value={scale}
          onValue={setScale}
          options={[
            { value: 'linear', label: 'Linear' },
            { value: 'log', label: 'Log' },
          ]}
        />
        <Segmented
          label="Smoothing"
          value={smoothing}
          onValue={setSmoothing}
          options={[
            { value: '0', label: 'Raw' },
            { value: '0.9', label: '0.9' },
            { value: '0.99', label: '0.99' },
          ]}
        />
        <output>{opened}</output>
      </div>
      <div className={styles.charts}>
        <LineChart
          title="Success"
          unit="share"
          sample="n = 128 a point"
          series={success}
          smoothing={Number(smoothing)}
          scale={scale}
          marks={MARKS}
          group="gallery"
          explain={
            <Explain what="success">
              <p>Successful episodes ÷ all episodes. Higher is better.</p>
            </Explain>
          }
          onPoint={(series, x) => setOpened(`Opened ${series} at update ${x}`)}
        />
        <LineChart title="KL to the reference" unit="nats" sample="5 seeds, 95% interval" series={kl} scale={scale} group="gallery" />
        <LineChart title="Gradient norm" series={[]} />
      </div>
    </>
  );
}
