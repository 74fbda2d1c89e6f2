// What the charts of the Live page draw: the series of a run, thinned out to what can be seen, and what explains them.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Answer } from '../../preload/contract.ts';
import type { ChartAxis } from '../../main/base/vocabulary.ts';
import type { Metric } from '../../main/lab/features/metrics.ts';
import { callOptions, useCall } from '../bridge.ts';
import { chartGroup, useRange } from '../charts/group.ts';
import { CHART_METRICS } from './charts.ts';

/** A chart is about this many pixels wide; more points would not be seen. */
const POINTS = 500;

export interface LiveSeries {
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** Needed to lead from a point to its episodes. */
  readonly updates: readonly number[];
}

export const rangeGroup = (run: number, axis: ChartAxis): string => `live-${run}-${axis}`;

export function useLiveSeries(run: number, axis: ChartAxis) {
  const range = useRange(chartGroup(rangeGroup(run, axis)));
  const input = { run, names: [...CHART_METRICS], axis, points: POINTS, ...(range && { from: range.min, to: range.max }) };
  const query = useQuery({ ...callOptions('metrics.series', input), placeholderData: keepPreviousData });
  const series = useMemo(() => byName(query.data), [query.data]);
  return { series, query, zoomed: range !== null };
}

/** The series of another run, to lie under the charts; none when there is no other. */
export function useBaselineSeries(run: number | null, axis: ChartAxis): ReadonlyMap<string, LiveSeries> {
  const input = { run: run ?? 1, names: [...CHART_METRICS], axis, points: POINTS };
  const { data } = useQuery({ ...callOptions('metrics.series', input), enabled: run !== null });
  return useMemo(() => byName(run === null ? undefined : data), [run, data]);
}

function byName(answer: Answer<'metrics.series'> | undefined): ReadonlyMap<string, LiveSeries> {
  return new Map(
    answer?.series.flatMap(({ name, x, y, updates }) => (x.length > 0 ? [[name, { x: [...x], y: [...y], updates: [...updates] }]] : [])),
  );
}

export function useGlossary(): ReadonlyMap<string, Metric> {
  const { data } = useCall('metrics.glossary', {});
  return useMemo(() => new Map(data?.metrics.map((metric) => [metric.id, metric])), [data]);
}
