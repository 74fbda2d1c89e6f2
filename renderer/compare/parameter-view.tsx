// The parameter view: a setting along the axis, test success up, a mark for every run; a click opens the run.

import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import { Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { formatValue } from '../format.ts';
import { useView } from '../state/view.ts';
import { runStyle, type RunStyle } from '../theme/runs.ts';
import type { Group } from './groups.ts';
import { placeSetting, plottable, type Placed } from './parameters.ts';
import styles from './parameter-view.module.css';

const WIDTH = 900;
const HEIGHT = 260;
const EDGE = { left: 44, right: 12, top: 10, bottom: 34 };

interface ParameterViewProps {
  data: Answer<'compare.open'>;
  groups: readonly Group[];
  looks: ReadonlyMap<string, RunStyle>;
}

export function ParameterView({ data, groups, looks }: ParameterViewProps) {
  const [chosen, choose] = useView('compare.parameter', z.string(), '');
  const settings = plottable(data.runs, data.diff);
  const setting = settings.find(({ key }) => key === chosen) ?? settings[0];
  if (!setting || data.runs.length < 3) return null;
  const { points, ticks, log, rho, missing } = placeSetting(data.runs, setting);
  const armOf = new Map(groups.flatMap(({ key, runs }) => runs.map((run) => [run, key] as const)));
  const correlation = rho === null ? '' : ` Rank correlation ρ = ${rho.toFixed(2).replace('-', '−')} over ${points.length} runs.`;
  const without = missing === 0 ? '' : ` ${missing} ${missing === 1 ? 'run does' : 'runs do'} not have it.`;
  return (
    <Section
      title="Parameters"
      hint={`Test success by setting${log ? ', log scale' : ''}; a mark for every run, the line is their mean.${correlation}${without} Other settings may differ too.`}
      actions={
        <Select
          aria-label="Setting"
          value={setting.key}
          options={settings.map(({ key }) => ({ value: key, label: key }))}
          onValue={choose}
        />
      }
    >
      <figure className={styles.figure} aria-label={`Success by ${setting.key}`}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className={styles.plot}>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <g key={share}>
              <line className={styles.line} x1={EDGE.left} x2={WIDTH - EDGE.right} y1={up(share)} y2={up(share)} />
              <text className={styles.tick} x={EDGE.left - 6} y={up(share) + 4} textAnchor="end">
                {share * 100}%
              </text>
            </g>
          ))}
          {ticks.map(({ x, label }) => (
            <text key={label} className={styles.tick} x={along(x)} y={HEIGHT - EDGE.bottom + 16} textAnchor="middle">
              {label.length > 18 ? `${label.slice(0, 17)}…` : label}
            </text>
          ))}
          <polyline
            className={styles.mean}
            points={means(points)
              .map(({ x, y }) => `${along(x)},${up(y)}`)
              .join(' ')}
          />
          {points.map(({ run, x, y, value }) => (
            <a key={run} href={`#/runs/${run}`} aria-label={`Run ${run}, ${setting.key} ${value}: ${formatValue(y, 'share')}`}>
              <circle
                className={styles.mark}
                cx={along(x)}
                cy={up(y)}
                r="5"
                style={{ fill: (looks.get(armOf.get(run) ?? '') ?? runStyle(0)).colour }}
              >
                <title>{`Run ${run} (${armOf.get(run) ?? ''}): ${value}, ${formatValue(y, 'share')}`}</title>
              </circle>
            </a>
          ))}
        </svg>
      </figure>
    </Section>
  );
}

const along = (x: number): number => EDGE.left + x * (WIDTH - EDGE.left - EDGE.right);
const up = (share: number): number => HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom);

/** The mean of the runs at each place, from left to right. */
function means(points: readonly Placed[]): { x: number; y: number }[] {
  return [...Map.groupBy(points, ({ x }) => x)]
    .map(([x, own]) => ({ x, y: own.reduce((sum, { y }) => sum + y, 0) / own.length }))
    .sort((a, b) => a.x - b.x);
}
