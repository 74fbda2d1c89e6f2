// What the Live page knows of a run, kept fresh while it trains: series are asked for once per view and then grow by the
// points that arrive; lists are asked for again when the run says that it stored something.

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Answer } from '../../preload/contract.ts';
import type { ChartAxis } from '../../main/base/vocabulary.ts';
import type { Metric } from '../../main/lab/features/metrics.ts';
import type { LivePoint, LiveProgress } from '../../main/lab/features/runs.ts';
import { callOptions, useCall, useEvent } from '../bridge.ts';
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

const AXIS_VALUE: Readonly<Record<ChartAxis, (point: LivePoint) => number | undefined>> = {
  update: ({ update }) => update,
  episodes: ({ values }) => values.episodes,
  time: ({ values }) => values['system/time.elapsed'],
};

export const rangeGroup = (run: number, axis: ChartAxis): string => `live-${run}-${axis}`;

export function useLiveSeries(run: number, axis: ChartAxis) {
  const range = useRange(chartGroup(rangeGroup(run, axis)));
  const input = { run, names: [...CHART_METRICS], axis, points: POINTS, ...(range && { from: range.min, to: range.max }) };
  const query = useQuery({ ...callOptions('metrics.series', input), placeholderData: keepPreviousData });
  const [fresh, setFresh] = useState<readonly LivePoint[]>([]);
  const client = useQueryClient();

  // Points are drawn together, so seldom that drawing takes a third of the time at most: a slow machine draws less often and
  // stays in step.
  const waiting = useRef<LivePoint[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const cost = useRef(0);
  const draw = (): void => {
    const points = waiting.current.splice(0);
    const began = performance.now();
    setFresh((before) => [...before, ...points]);
    // The second frame begins when the first one is on screen.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        cost.current = performance.now() - began;
        timer.current = null;
        if (waiting.current.length > 0) plan();
      }),
    );
  };
  const plan = (): void => {
    timer.current ??= setTimeout(draw, 2 * cost.current);
  };
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);

  useEvent('runs.news', (news) => {
    if (news.run !== run) return;
    if (news.rewound) {
      waiting.current = [];
      setFresh([]);
      void client.invalidateQueries({ queryKey: ['metrics.series'] });
    }
    if (news.points.length === 0) return;
    waiting.current.push(...news.points);
    plan();
  });
  // A long watch would grow without end: then the thinned-out series is asked for again.
  const tooMany = fresh.length > POINTS;
  useEffect(() => {
    if (!tooMany) return;
    void client.invalidateQueries({ queryKey: ['metrics.series'] }).then(() => setFresh([]));
  }, [tooMany, client]);

  const series = useMemo(() => {
    const all = new Map<string, LiveSeries>();
    const stored = new Map(query.data?.series.map((one) => [one.name, one]));
    for (const name of CHART_METRICS) {
      const old = stored.get(name);
      const x = old ? [...old.x] : [];
      const y = old ? [...old.y] : [];
      const updates = old ? [...old.updates] : [];
      const last = updates.at(-1) ?? -1;
      for (const point of fresh) {
        const value = point.values[name];
        const place = AXIS_VALUE[axis](point);
        if (value === undefined || place === undefined || point.update <= last) continue;
        x.push(place);
        y.push(value);
        updates.push(point.update);
      }
      if (x.length > 0) all.set(name, { x, y, updates });
    }
    return all;
  }, [query.data, fresh, axis]);
  return { series, query };
}

const NO_SERIES: ReadonlyMap<string, LiveSeries> = new Map();

/** The stored series of another run, to lie under the charts; none when there is no other. */
export function useBaselineSeries(run: number | null, axis: ChartAxis): ReadonlyMap<string, LiveSeries> {
  const input = { run: run ?? 1, names: [...CHART_METRICS], axis, points: POINTS };
  const { data } = useQuery({ ...callOptions('metrics.series', input), enabled: run !== null });
  return useMemo(() => {
    if (run === null || !data) return NO_SERIES;
    return new Map(
      data.series.flatMap(({ name, x, y, updates }) => (x.length > 0 ? [[name, { x: [...x], y: [...y], updates: [...updates] }]] : [])),
    );
  }, [run, data]);
}

/** What the run does at this moment; forgotten when it stops. */
export function useProgress(run: number, live: boolean): LiveProgress | null {
  const [progress, setProgress] = useState<LiveProgress | null>(null);
  useEvent('runs.news', (news) => {
    if (news.run === run && news.progress) setProgress(news.progress);
  });
  return live ? progress : null;
}

/** Lists are read again at most this often: nobody reads faster. */
const BETWEEN_MS = 1000;

/** Lists of a run, asked for again when something was added. A state that changed is in the log, so that asks too. */
export function useRunLists(run: number) {
  const client = useQueryClient();
  const due = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const [state, setState] = useState('');
  const again = (...names: string[]): void => {
    for (const name of names) due.current.add(name);
    timer.current ??= setTimeout(() => {
      timer.current = null;
      for (const name of due.current) void client.invalidateQueries({ queryKey: [name] });
      due.current.clear();
    }, BETWEEN_MS);
  };
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  useEvent('runs.news', ({ run: which, stored, rewound }) => {
    if (which !== run) return;
    if (stored.evaluations || rewound) again('runs.evaluations');
    if (stored.episodes || rewound) again('runs.episodes', 'metrics.histogram');
    if (stored.events || rewound) again('runs.events');
  });
  useEvent('runs.changed', ({ rows }) => {
    const now = rows.find(({ id }) => id === run)?.state ?? state;
    if (now === state) return;
    setState(now);
    again('runs.events');
  });
  return { events: useCall('runs.events', { run }), evaluations: useCall('runs.evaluations', { run }) };
}

/** The summary of a run is worked out over all its updates, so it is asked for again less often than lists are. */
const SUMMARY_MS = 3000;

/** What stands above the charts: stages, advice, what the device cost. Grows while the run trains. */
export function useRunSummary(run: number): Answer<'runs.get'> | undefined {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  useEvent('runs.news', (news) => {
    if (news.run !== run || (news.points.length === 0 && !news.rewound)) return;
    timer.current ??= setTimeout(() => {
      timer.current = null;
      void client.invalidateQueries({ queryKey: callOptions('runs.get', { run }).queryKey });
    }, SUMMARY_MS);
  });
  return useCall('runs.get', { run }).data;
}

export function useGlossary(): ReadonlyMap<string, Metric> {
  const { data } = useCall('metrics.glossary', {});
  return useMemo(() => new Map(data?.metrics.map((metric) => [metric.id, metric])), [data]);
}
