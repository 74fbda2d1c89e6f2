// The charts of a run: one crosshair and one zoom for all of them, marks for what happened, and a click on a point that
// leads to the episodes behind it. Charts out of sight are not drawn.

import { useEffect, useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import { type ChartAxis, chartAxes } from '../../main/base/vocabulary.ts';
import type { RunEvent, RunRow } from '../../main/lab/features/runs.ts';
import type { Pin } from '../charts/chart-menu.tsx';
import { LineChart } from '../charts/line-chart.tsx';
import { nearest } from '../charts/series.ts';
import type { Mark, Series } from '../charts/series.ts';
import { scaleSchema, ScaleSwitch, smoothingSchema, SmoothingSelect } from '../charts/view-controls.tsx';
import { Select } from '../components/field.tsx';
import { EmptyState, ErrorState } from '../components/states.tsx';
import { Segmented } from '../components/tabs.tsx';
import { formatDuration, formatTick } from '../format.ts';
import { doingWords } from '../state/progress.ts';
import { runName, useRuns } from '../state/runs.ts';
import { useView } from '../state/view.ts';
import { runStyle } from '../theme/runs.ts';
import type { RunStyle } from '../theme/runs.ts';
import { concerning } from './alert-states.ts';
import type { AlertState } from './alert-states.ts';
import { CHARTS } from './charts.ts';
import type { ChartPlan } from './charts.ts';
import { HistogramChart } from './histogram.tsx';
import { MetricExplain } from './metric-explain.tsx';
import { rangeGroup, useBaselineSeries, useGlossary, useLiveSeries } from './use-live.ts';
import type { LiveSeries } from './use-live.ts';
import styles from './live.module.css';

export interface Point {
  readonly update: number;
  readonly purpose: 'train' | 'evaluation';
}

interface ChartsTabProps {
  run: RunRow;
  events: readonly RunEvent[];
  alerts: readonly AlertState[];
  evaluations: Answer<'runs.evaluations'> | undefined;
  onPoint: (point: Point) => void;
}

const pinnedSchema = z.array(z.string());
const NONE_PINNED: string[] = [];
/** A select of thousands of runs would help nobody; the newest are offered. */
const MOST_BASELINES = 200;
const AXES = [
  { value: 'update', label: 'Update' },
  { value: 'episodes', label: 'Episode' },
  { value: 'time', label: 'Time' },
] as const;
const HISTOGRAMS = [
  { name: 'advantage', title: 'Distribution of advantages' },
  { name: 'vstar', title: 'Distribution of V*' },
];
const axisSchema = z.enum(chartAxes);
const AXIS_LABELS: Readonly<Record<ChartAxis, string>> = { update: 'update', episodes: 'episode', time: 'time' };
const HEIGHT = 176;

export function ChartsTab({ run, events, alerts, evaluations, onPoint }: ChartsTabProps) {
  const [axis, setAxis] = useView<ChartAxis>('live.axis', axisSchema, 'update');
  const [scale, setScale] = useView<'linear' | 'log'>('live.scale', scaleSchema, 'linear');
  const [smoothing, setSmoothing] = useView('live.smoothing', smoothingSchema, 0);
  const [pinned, setPinned] = useView('live.pinned', pinnedSchema, NONE_PINNED);
  const [baseline, setBaseline] = useState<number | null>(null);
  const { series, query, zoomed } = useLiveSeries(run.id, axis);
  const under = useBaselineSeries(baseline, axis);
  const glossary = useGlossary();

  const placeOf = useMemo(() => placer(series.get('rollout.success'), axis), [series, axis]);
  const marks = useMemo(() => marksOf(events, evaluations, placeOf), [events, evaluations, placeOf]);
  const evaluated = useMemo(() => evaluationSeries(evaluations, placeOf), [evaluations, placeOf]);
  const stale = run.state === 'paused' ? 'paused' : undefined;
  const charts = useMemo(
    () =>
      inOrder(pinned, series).map((plan) => ({
        plan,
        marks: [...marks, ...alertMarks(plan, alerts, placeOf)],
        lines: [...linesOf(plan, series, glossary), ...(plan.id === 'success' ? evaluated : []), ...baselineLines(plan, under, baseline)],
      })),
    [series, glossary, evaluated, pinned, under, baseline, marks, alerts, placeOf],
  );
  const open = (id: string, x: number): void => {
    const line = series.get(id);
    const update =
      id === 'evaluation'
        ? evaluations?.evaluations.findLast((one) => placeOf(one.update) <= x + 1e-9)?.update
        : line?.updates[nearest(line.x, x)];
    if (update !== undefined) onPoint({ update, purpose: id === 'evaluation' ? 'evaluation' : 'train' });
  };
  const pinOf = (id: string): Pin => ({
    pinned: pinned.includes(id),
    toggle: () => setPinned(pinned.includes(id) ? pinned.filter((one) => one !== id) : [...pinned, id]),
  });

  const withoutPoints =
    series.size > 0 && !zoomed ? 'Not used by this algorithm' : zoomed ? 'No points in this part' : 'Waiting for the first update';

  if (query.isError) return <ErrorState title="Could not read the metrics" error={query.error} retry={() => void query.refetch()} />;
  if (run.updates === 0 && !zoomed && query.data && charts.every(({ lines }) => lines.length === 0)) return <Beginning run={run} />;
  return (
    <>
      <Controls {...{ run, axis, setAxis, scale, setScale, smoothing, setSmoothing, baseline, setBaseline }} />
      <div className={styles.charts}>
        {charts.map(({ plan, lines, marks: chartMarks }, index) => (
          <InView key={plan.id} eager={index < 4} height={HEIGHT + 70}>
            <LineChart
              title={plan.title}
              unit={plan.unit}
              series={lines}
              explain={<MetricExplain title={plan.title} metrics={explained(plan, lines, glossary)} />}
              {...(plan.perUpdate && run.updates > 0 && { sample: `n = ${Math.round(run.episodes / run.updates)}` })}
              smoothing={smoothing}
              scale={plan.unit === 'share' ? 'linear' : scale}
              xLabel={AXIS_LABELS[axis]}
              formatX={axis === 'time' ? formatDuration : formatTick}
              marks={chartMarks}
              group={rangeGroup(run.id, axis)}
              height={HEIGHT}
              empty={withoutPoints}
              pin={pinOf(plan.id)}
              {...(stale && { stale })}
              onPoint={open}
            />
          </InView>
        ))}
        {HISTOGRAMS.map(({ name, title }) => (
          <InView key={name} height={HEIGHT + 70}>
            <HistogramChart run={run.id} name={name} title={title} glossary={glossary} />
          </InView>
        ))}
      </div>
    </>
  );
}

const BEGINNING: Readonly<Record<string, string>> = {
  reference:
    'The policy first learns to imitate demonstrations until it solves part of the tasks. What comes out is the reference: training begins with it and is measured against it.',
  vstar: 'Each task gets a value: how well the reference does on it in several attempts (V*).',
};

/** Instead of charts without a point: what happens before the first one. */
function Beginning({ run }: { run: RunRow }) {
  const words = run.state === 'queued' ? 'It starts when a place in the queue is free.' : doingWords(run);
  return (
    <EmptyState title="Curves begin with the first update">
      <p>{`${words.charAt(0).toUpperCase()}${words.slice(1)}`}</p>
      <p>{BEGINNING[run.progress?.stage ?? '']}</p>
    </EmptyState>
  );
}

interface ControlsProps {
  run: RunRow;
  axis: ChartAxis;
  setAxis: (axis: ChartAxis) => void;
  scale: 'linear' | 'log';
  setScale: (scale: 'linear' | 'log') => void;
  smoothing: number;
  setSmoothing: (smoothing: number) => void;
  baseline: number | null;
  setBaseline: (run: number | null) => void;
}

function Controls({ run, axis, setAxis, scale, setScale, smoothing, setSmoothing, baseline, setBaseline }: ControlsProps) {
  const runs = useRuns();
  const others = (runs.data?.runs ?? []).filter(({ id, updates }) => id !== run.id && updates > 0).slice(0, MOST_BASELINES);
  return (
    <div className={styles.controls}>
      <Segmented label="X axis" value={axis} onValue={setAxis} options={AXES} />
      <ScaleSwitch value={scale} onValue={setScale} />
      <SmoothingSelect value={smoothing} onValue={setSmoothing} />
      <span className={styles.baseline}>
        <Select
          aria-label="Baseline run"
          value={String(baseline ?? '')}
          options={[{ value: '', label: 'No baseline' }, ...others.map((other) => ({ value: String(other.id), label: runName(other) }))]}
          onValue={(value) => setBaseline(value === '' ? null : Number(value))}
        />
      </span>
      <span className={styles.remark}>Drag to zoom, double-click to reset. Click a point for its episodes.</span>
    </div>
  );
}

/** Pinned charts first, in the order they were pinned. */
function inOrder(pinned: readonly string[], series: ReadonlyMap<string, LiveSeries>): ChartPlan[] {
  const place = ({ id }: ChartPlan): number => (pinned.includes(id) ? pinned.indexOf(id) : pinned.length);
  const shown = CHARTS.filter(({ onDevice, metrics: [first = ''] }) => !onDevice || (series.get(first)?.x.length ?? 0) > 0);
  return shown.toSorted((a, b) => place(a) - place(b));
}

const UNDER: RunStyle = { colour: 'var(--text-faint)', dash: [2, 3] };

/** The first metric of the chart in the other run, in grey. */
function baselineLines({ metrics: [name] }: ChartPlan, series: ReadonlyMap<string, LiveSeries>, run: number | null): Series[] {
  const line = name === undefined ? undefined : series.get(name);
  return line ? [{ id: `baseline ${name}`, label: `Baseline #${run}`, look: UNDER, x: line.x, y: line.y }] : [];
}

/** From an update to its place on the axis. */
function placer(along: LiveSeries | undefined, axis: ChartAxis): (update: number) => number {
  if (axis === 'update') return (update) => update;
  return (update) => {
    if (!along || update <= 0) return 0;
    return along.x[nearest(along.updates, update)] ?? 0;
  };
}

function linesOf({ metrics }: ChartPlan, series: ReadonlyMap<string, LiveSeries>, glossary: ReturnType<typeof useGlossary>): Series[] {
  return metrics.flatMap((name, index) => {
    const line = series.get(name);
    return line ? [{ id: name, label: glossary.get(name)?.name ?? name, look: runStyle(index), x: line.x, y: line.y }] : [];
  });
}

function evaluationSeries(answer: Answer<'runs.evaluations'> | undefined, placeOf: (update: number) => number): Series[] {
  const periodic = answer?.evaluations.filter(({ kind }) => kind === 'periodic') ?? [];
  if (periodic.length === 0) return [];
  const of = (value: (one: (typeof periodic)[number]) => number): number[] => periodic.map(value);
  return [
    {
      id: 'evaluation',
      label: `Validation, n = ${periodic.at(-1)?.success.n ?? 0}`,
      look: runStyle(1),
      x: of(({ update }) => placeOf(update)),
      y: of(({ success }) => success.rate),
      low: of(({ success }) => success.low),
      high: of(({ success }) => success.high),
    },
  ];
}

function explained(plan: ChartPlan, lines: readonly Series[], glossary: ReturnType<typeof useGlossary>) {
  const ids = [...lines.map(({ id }) => (id === 'evaluation' ? 'evaluation.success' : id)), ...(lines.length === 0 ? plan.metrics : [])];
  return ids.flatMap((id) => glossary.get(id) ?? []);
}

function marksOf(events: readonly RunEvent[], answer: Answer<'runs.evaluations'> | undefined, placeOf: (update: number) => number): Mark[] {
  const marks: Mark[] = (answer?.checkpoints ?? []).map(({ update }) => ({ x: placeOf(update), label: 'checkpoint', kind: 'checkpoint' }));
  for (const { update, kind } of answer?.evaluations ?? []) {
    if (kind === 'final') marks.push({ x: placeOf(update), label: 'test', kind: 'evaluation' });
  }
  for (const { update, kind, text } of events) {
    if (kind === 'level') marks.push({ x: placeOf(update), label: text.split(' from')[0] ?? text, kind: 'level' });
  }
  return marks;
}

/** Only the alerts that are about what this chart draws. */
function alertMarks({ id, metrics }: ChartPlan, alerts: readonly AlertState[], placeOf: (update: number) => number): Mark[] {
  return concerning(alerts, id === 'success' ? [...metrics, 'evaluation.success'] : metrics).map(({ title, raised, cleared }) => ({
    x: placeOf(raised),
    label: cleared === null ? `alert: ${title}` : `alert: ${title} (cleared at update ${cleared})`,
    kind: cleared === null ? 'alert' : 'cleared',
  }));
}

/** Draws its children when they come near the visible part; before that, their room, and after that, what they were. */
function InView({ eager = false, height, children }: { eager?: boolean; height: number; children: ReactNode }) {
  const [near, setNear] = useState(eager);
  const [seen, setSeen] = useState(eager);
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef(children);
  // The same element as last time lets React pass over everything in it.
  if (near) drawn.current = children;
  useEffect(() => {
    if (!place.current) return undefined;
    const watch = new IntersectionObserver(
      (entries) => {
        const now = entries.some(({ isIntersecting }) => isIntersecting);
        setNear(now);
        if (now) setSeen(true);
      },
      { rootMargin: '200px' },
    );
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={place} style={seen ? undefined : { minHeight: height }} className={styles.cell}>
      {seen && drawn.current}
    </div>
  );
}
