// Curves of the chosen metric: one line per run, or the mean of each arm with its interval over seeds, along updates, episodes,
// optimizer steps, tokens or time. Validation success comes from the evaluations (with its n), everything else from what each
// update recorded.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun } from '../../main/lab/features/compare.ts';
import { curveAxes, type CurveAxis } from '../../main/base/vocabulary.ts';
import { callOptions, useCall } from '../bridge.ts';
import { LineChart } from '../charts/line-chart.tsx';
import { nearest, type Mark, type Scale, type Series } from '../charts/series.ts';
import { scaleSchema, ScaleSwitch, smoothingSchema, SmoothingSelect } from '../charts/view-controls.tsx';
import { Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { Segmented } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { formatDuration, formatTick } from '../format.ts';
import { type RunStyle, runStyle, useRunStyles } from '../theme/runs.ts';
import { useView } from '../state/view.ts';
import { usePartingMark } from './parting.ts';
import { type Curve, type Group, meanCurve } from './groups.ts';
import styles from './compare.module.css';

/** Drawn from the evaluations during training, which also know how many tasks a point rests on. */
const VALIDATION = 'evaluation.success';
const POINTS = 600;

const AXES: Readonly<Record<CurveAxis, { readonly name: string; readonly label: string }>> = {
  update: { name: 'Update', label: 'update' },
  episodes: { name: 'Episode', label: 'episode' },
  steps: { name: 'Optimizer step', label: 'optimizer step' },
  tokens: { name: 'Token', label: 'token' },
  time: { name: 'Time', label: 'time' },
};
const HEIGHTS = { low: 240, medium: 360, high: 560 } as const;
const HEIGHT_NAMES = [
  { value: 'low', label: 'S' },
  { value: 'medium', label: 'M' },
  { value: 'high', label: 'L' },
] as const;
const RANGES = [
  { value: 'full', label: '0–100%' },
  { value: 'fit', label: 'Fit' },
] as const;

const axisSchema = z.enum(curveAxes);
const rangeSchema = z.enum(['full', 'fit']);
const heightSchema = z.enum(['low', 'medium', 'high']);

interface CurvesProps {
  data: Answer<'compare.open'>;
  groups: readonly Group[];
  onPoint: (run: number, update: number) => void;
}

const NO_MARKS: readonly Mark[] = [];

export function Curves({ data, groups, onPoint }: CurvesProps) {
  const parting = usePartingMark();
  const [metric, setMetric] = useView('compare.metric', z.string(), VALIDATION);
  const view = useCurveView();
  const { axis, scale, smoothing } = view;
  const glossary = useCall('metrics.glossary', {});
  const looks = useGroupLooks(data.runs, groups);
  const chosen = metric === VALIDATION || data.metrics.includes(metric) ? metric : VALIDATION;
  const meaning = glossary.data?.metrics.find(({ id }) => id === chosen);
  const validation = chosen === VALIDATION;
  const isShare = validation || meaning?.unit === 'share';
  const curves = useCurves(data, chosen, axis);
  const { series, updates } = useMemo(
    () => seriesOf({ curves, data, groups, looks, validation, isShare }),
    [curves, data, groups, looks, validation, isShare],
  );
  const seeds = Math.max(...groups.map(({ runs }) => runs.length));
  const names = [VALIDATION, ...data.metrics.filter((name) => name !== VALIDATION && !name.startsWith('system/'))];
  const band = seeds > 1 ? 'Mean over seeds; the band is the 95% interval (Student’s t).' : '';
  return (
    <Section
      title="Curves"
      tourId="curves"
      hint={`${band} Click a point to replay its episodes.`.trim()}
      actions={
        <Select
          aria-label="Metric"
          value={chosen}
          options={names.map((value) => ({ value, label: glossary.data?.metrics.find(({ id }) => id === value)?.name ?? value }))}
          onValue={setMetric}
        />
      }
    >
      <Controls {...view} share={isShare} />
      <div className={styles.chart}>
        <LineChart
          title={meaning?.name ?? (validation ? 'Validation success' : chosen)}
          unit={validation ? 'share' : (meaning?.unit ?? '')}
          series={series}
          sample={[seedCounts(groups), validation ? sampleSize(data.runs) : ''].filter(Boolean).join(', ')}
          smoothing={smoothing}
          scale={scale}
          fit={view.range === 'fit'}
          legend="beside"
          xLabel={AXES[axis].label}
          formatX={axis === 'time' ? formatDuration : formatTick}
          height={HEIGHTS[view.height]}
          marks={validation && axis === 'update' ? parting : NO_MARKS}
          explain={
            meaning && (
              <Explain what={meaning.name}>
                <p>{meaning.formula}</p>
              </Explain>
            )
          }
          onPoint={(key, x) => {
            const run = groups.find((group) => group.key === key)?.runs[0];
            const line = series.find(({ id }) => id === key);
            const update = line && updates.get(key)?.[nearest(line.x, x)];
            if (run !== undefined && update !== undefined) onPoint(run, update);
          }}
        />
      </div>
    </Section>
  );
}

/** How the curves are looked at; remembered. */
function useCurveView() {
  const [axis, setAxis] = useView<CurveAxis>('compare.axis', axisSchema, 'update');
  const [scale, setScale] = useView<Scale>('compare.scale', scaleSchema, 'linear');
  const [smoothing, setSmoothing] = useView('compare.smoothing', smoothingSchema, 0);
  const [range, setRange] = useView<'full' | 'fit'>('compare.range', rangeSchema, 'full');
  const [height, setHeight] = useView<keyof typeof HEIGHTS>('compare.height', heightSchema, 'medium');
  return { axis, setAxis, scale, setScale, smoothing, setSmoothing, range, setRange, height, setHeight };
}

function Controls({
  axis,
  setAxis,
  scale,
  setScale,
  smoothing,
  setSmoothing,
  range,
  setRange,
  height,
  setHeight,
  share,
}: ReturnType<typeof useCurveView> & { share: boolean }) {
  return (
    <div className={styles.controls}>
      <Select
        aria-label="X axis"
        value={axis}
        options={curveAxes.map((value) => ({ value, label: `By ${AXES[value].name.toLowerCase()}` }))}
        onValue={(value) => setAxis(axisSchema.catch('update').parse(value))}
      />
      <ScaleSwitch value={scale} onValue={setScale} />
      {share && scale === 'linear' && <Segmented label="Range of the y axis" value={range} onValue={setRange} options={RANGES} />}
      <SmoothingSelect value={smoothing} onValue={setSmoothing} />
      <Segmented label="Height of the plot" value={height} onValue={setHeight} options={HEIGHT_NAMES} />
    </div>
  );
}

const NO_CURVES: readonly Curve[] = [];

/** Validation success along updates is at hand; everything else is asked for. */
function useCurves(data: Answer<'compare.open'>, name: string, axis: CurveAxis): readonly Curve[] {
  const atHand = name === VALIDATION && axis === 'update';
  const asked = useQuery({
    ...callOptions('compare.curves', { runs: data.runs.map(({ run }) => run), name, axis, points: POINTS }),
    enabled: !atHand,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => (atHand ? data.runs.map(validationCurve) : (asked.data?.curves ?? NO_CURVES)), [atHand, data, asked.data]);
}

interface SeriesInput {
  readonly curves: readonly Curve[];
  readonly data: Answer<'compare.open'>;
  readonly groups: readonly Group[];
  readonly looks: ReadonlyMap<string, RunStyle>;
  readonly validation: boolean;
  readonly isShare: boolean;
}

/** The series, and the update behind each of their points. */
function seriesOf({ curves, data, groups, looks, validation, isShare }: SeriesInput): {
  series: Series[];
  updates: ReadonlyMap<string, readonly number[]>;
} {
  // A share cannot leave 0 … 1, whatever Student's t says of three seeds.
  const bounded = (value: number): number => (isShare ? Math.max(0, Math.min(1, value)) : value);
  const updates = new Map<string, readonly number[]>();
  const series = groups.map(({ key, runs }): Series => {
    const own = curves.filter(({ run }) => runs.includes(run));
    const { x, y, low, high, n, updates: at } = meanCurve(own);
    updates.set(key, at);
    const single = runs.length === 1 && validation ? data.runs.find(({ run }) => run === runs[0]) : undefined;
    const bounds = single ? wilsonBand(single) : n > 1 ? { low: low.map(bounded), high: high.map(bounded) } : {};
    return { id: key, label: key, look: looks.get(key) ?? runStyle(0), x, y, ...bounds };
  });
  return { series, updates };
}

function validationCurve({ run, evaluations }: ComparedRun): Curve {
  return { run, x: evaluations.map(({ update }) => update), y: evaluations.map(({ success }) => success.rate) };
}

function wilsonBand({ evaluations }: ComparedRun): { low: number[]; high: number[] } {
  return { low: evaluations.map(({ success }) => success.low), high: evaluations.map(({ success }) => success.high) };
}

/** How many seeds stand behind a line. */
function seedCounts(groups: readonly Group[]): string {
  const counts = groups.map(({ runs }) => runs.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return most < 2 ? '' : `${least === most ? most : `${least}–${most}`} seeds per arm`;
}

function sampleSize(runs: readonly ComparedRun[]): string {
  const sizes = [...new Set(runs.flatMap(({ evaluations }) => evaluations.map(({ success }) => success.n)))].sort((a, b) => a - b);
  return sizes.length === 0 ? '' : `n = ${sizes.length === 1 ? sizes[0] : `${sizes[0]}–${sizes.at(-1)}`} tasks per point`;
}

/** A group of one run looks like the run; a larger one like its first. */
export function useGroupLooks(runs: readonly ComparedRun[], groups: readonly Group[]): ReadonlyMap<string, RunStyle> {
  const looks = useRunStyles(runs.map(({ run }) => String(run)));
  return new Map(groups.map(({ key, runs: members }) => [key, looks.get(String(members[0])) ?? runStyle(0)]));
}
