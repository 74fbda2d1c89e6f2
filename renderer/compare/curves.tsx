// Curves of the chosen metric: one line per run, or the mean of each group with its interval over seeds. Validation success
// comes from the evaluations (with its n), everything else from what each update recorded.

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun } from '../../preload/contract/compare.ts';
import { callOptions, useCall } from '../bridge.ts';
import { LineChart } from '../charts/line-chart.tsx';
import type { Mark, Series } from '../charts/series.ts';
import { Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { Explain } from '../components/tooltip.tsx';
import { type RunStyle, runStyle, useRunStyles } from '../theme/runs.ts';
import { useView } from '../state/view.ts';
import { usePartingMark } from '../tour/parting.ts';
import { type Curve, type Group, meanCurve } from './groups.ts';
import styles from './compare.module.css';

/** Drawn from the evaluations during training, which also know how many tasks a point rests on. */
const VALIDATION = 'evaluation.success';
const POINTS = 600;

interface CurvesProps {
  data: Answer<'compare.open'>;
  groups: readonly Group[];
  onPoint: (run: number, update: number) => void;
}

const NO_MARKS: readonly Mark[] = [];

export function Curves({ data, groups, onPoint }: CurvesProps) {
  const parting = usePartingMark();
  const [metric, setMetric] = useView('compare.metric', z.string(), VALIDATION);
  const glossary = useCall('metrics.glossary', {});
  const looks = useGroupLooks(data.runs, groups);
  const chosen = metric === VALIDATION || data.metrics.includes(metric) ? metric : VALIDATION;
  const meaning = glossary.data?.metrics.find(({ id }) => id === chosen);
  const recorded = useQuery({
    ...callOptions('compare.curves', { runs: data.runs.map(({ run }) => run), name: chosen, points: POINTS }),
    enabled: chosen !== VALIDATION,
  });
  const isShare = chosen === VALIDATION || meaning?.unit === 'share';
  const series = useMemo((): Series[] => {
    // A share cannot leave 0 … 1, whatever Student's t says of three seeds.
    const bounded = (value: number): number => (isShare ? Math.max(0, Math.min(1, value)) : value);
    const curves: readonly Curve[] = chosen === VALIDATION ? data.runs.map(validationCurve) : (recorded.data?.curves ?? []);
    return groups.map(({ key, runs }) => {
      const own = curves.filter(({ run }) => runs.includes(run));
      const { x, y, low, high, n } = meanCurve(own);
      const single = runs.length === 1 && chosen === VALIDATION ? data.runs.find(({ run }) => run === runs[0]) : undefined;
      const bounds = single ? wilsonBand(single) : n > 1 ? { low: low.map(bounded), high: high.map(bounded) } : {};
      return { id: key, label: runs.length > 1 ? `${key} (${n} seeds)` : key, look: looks.get(key) ?? runStyle(0), x, y, ...bounds };
    });
  }, [chosen, data, groups, isShare, looks, recorded.data]);
  const seeds = Math.max(...groups.map(({ runs }) => runs.length));
  const names = [VALIDATION, ...data.metrics.filter((name) => name !== VALIDATION && !name.startsWith('system/'))];
  return (
    <Section
      title="Curves"
      hint={
        seeds > 1
          ? 'Mean over seeds; the band is the 95% interval (Student’s t). Click a point to replay its episodes.'
          : 'Click a point to replay its episodes.'
      }
      actions={
        <Select
          aria-label="Metric"
          value={chosen}
          options={names.map((value) => ({ value, label: glossary.data?.metrics.find(({ id }) => id === value)?.name ?? value }))}
          onValue={setMetric}
        />
      }
    >
      <div className={styles.chart}>
        <LineChart
          title={meaning?.name ?? (chosen === VALIDATION ? 'Validation success' : chosen)}
          unit={chosen === VALIDATION ? 'share' : (meaning?.unit ?? '')}
          series={series}
          sample={chosen === VALIDATION ? sampleSize(data.runs) : ''}
          height={260}
          marks={chosen === VALIDATION ? parting : NO_MARKS}
          explain={
            meaning && (
              <Explain what={meaning.name}>
                <p>{meaning.formula}</p>
              </Explain>
            )
          }
          onPoint={(key, update) => {
            const run = groups.find((group) => group.key === key)?.runs[0];
            if (run !== undefined) onPoint(run, update);
          }}
        />
      </div>
    </Section>
  );
}

function validationCurve({ run, evaluations }: ComparedRun): Curve {
  return { run, x: evaluations.map(({ update }) => update), y: evaluations.map(({ success }) => success.rate) };
}

function wilsonBand({ evaluations }: ComparedRun): { low: number[]; high: number[] } {
  return { low: evaluations.map(({ success }) => success.low), high: evaluations.map(({ success }) => success.high) };
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
