// The columns of the list: title, width, what it sorts by and how a cell looks. A chosen config key is a column too.

import type { ReactNode } from 'react';
import type { Proportion } from '../../main/base/shapes.ts';
import type { Json, RunRow } from '../../main/lab/features/runs.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { RunStateBadge } from '../components/run-state.tsx';
import { Badge, Progress } from '../components/stat.tsx';
import { Tooltip } from '../components/tooltip.tsx';
import { formatDate, formatDuration, formatValue } from '../format.ts';
import type { RunStyle } from '../theme/runs.ts';
import type { SortValue } from './rows.ts';
import util from '../theme/utilities.module.css';
import styles from './runs.module.css';

export interface Column {
  readonly id: string;
  readonly title: string;
  /** Pixels; `grow` columns share the remaining width. */
  readonly width: number;
  /** Without its interval, where the window is narrow. */
  readonly narrow?: number;
  readonly grow?: boolean;
  readonly numeric?: boolean;
  readonly sort?: (run: RunRow) => SortValue;
  readonly cell: (run: RunRow) => ReactNode;
}

const LOOK: RunStyle = { colour: 'var(--accent)', dash: [] };
const WHOLE = { min: 0, max: 1 };
const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const COLUMNS: readonly Column[] = [
  { id: 'state', title: 'State', width: 116, sort: ({ state }) => state, cell: ({ state }) => <RunStateBadge state={state} /> },
  { id: 'id', title: '#', width: 44, numeric: true, sort: ({ id }) => id, cell: ({ id }) => id },
  {
    id: 'name',
    title: 'Name',
    width: 136,
    grow: true,
    sort: ({ name }) => name.toLowerCase(),
    cell: ({ name, damaged }) => (
      <span className={styles.name} dir="auto" title={name}>
        {name}
        {damaged !== null && (
          <>
            {' '}
            <Tooltip text={`${damaged}. \`lab check\` says more.`}>
              <span>
                <Badge tone="warning">damaged</Badge>
              </span>
            </Tooltip>
          </>
        )}
      </span>
    ),
  },
  { id: 'variant', title: 'Algorithm', width: 104, sort: ({ variant }) => variant, cell: ({ variant }) => variant },
  { id: 'seed', title: 'Seed', width: 52, numeric: true, sort: ({ seed }) => seed, cell: ({ seed }) => seed },
  { id: 'world', title: 'World', width: 58, sort: ({ world }) => world, cell: ({ world }) => world },
  {
    id: 'success',
    title: 'Test success',
    width: 136,
    narrow: 102,
    numeric: true,
    sort: ({ test }) => test?.rate ?? null,
    cell: ({ test }) => (
      <Share value={test} tasks={test && test.temperature > 0 ? `test tasks, sampled at temperature ${test.temperature}` : 'test tasks'} />
    ),
  },
  {
    id: 'validation',
    title: 'Validation',
    width: 136,
    narrow: 82,
    numeric: true,
    sort: ({ validation }) => validation?.rate ?? null,
    cell: ({ validation }) => <Share value={validation} tasks={`validation tasks at update ${validation?.update ?? 0}`} />,
  },
  {
    id: 'best',
    title: 'Best validation',
    width: 150,
    numeric: true,
    sort: ({ best }) => best?.rate ?? null,
    cell: ({ best }) =>
      best && (
        <>
          {formatValue(best.rate, 'share')} <span className={util.faint}>at update {whole.format(best.update)}</span>
        </>
      ),
  },
  {
    id: 'spark',
    title: 'Training',
    width: 76,
    sort: ({ spark }) => spark.at(-1) ?? null,
    cell: ({ spark }) =>
      spark.length > 1 && (
        <Sparkline label={`Training success, now ${formatValue(spark.at(-1) ?? 0, 'share')}`} values={spark} look={LOOK} range={WHOLE} />
      ),
  },
  {
    id: 'updates',
    title: 'Updates',
    width: 100,
    numeric: true,
    sort: ({ updates }) => updates,
    cell: (run) => <Updates run={run} />,
  },
  {
    id: 'time',
    title: 'Time',
    width: 92,
    numeric: true,
    sort: ({ seconds }) => seconds,
    cell: ({ seconds }) => (seconds > 0 ? formatDuration(seconds) : ''),
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 72,
    sort: ({ tags }) => tags.join(' ') || null,
    cell: ({ tags }) => (
      <span className={styles.tags}>
        {tags.map((tag) => (
          <span key={tag} className={styles.tag}>
            {tag}
          </span>
        ))}
      </span>
    ),
  },
  {
    id: 'notes',
    title: 'Notes',
    width: 52,
    sort: ({ notes }) => notes || null,
    cell: ({ notes }) => <span title={notes}>{notes.split('\n')[0]}</span>,
  },
  { id: 'preset', title: 'Preset', width: 126, sort: ({ preset }) => preset, cell: ({ preset }) => preset ?? 'custom' },
  {
    id: 'episodes',
    title: 'Episodes',
    width: 92,
    numeric: true,
    sort: ({ episodes }) => episodes,
    cell: ({ episodes }) => whole.format(episodes),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 104,
    numeric: true,
    sort: ({ tokens }) => tokens,
    cell: ({ tokens }) => whole.format(tokens),
  },
  { id: 'device', title: 'Device', width: 80, sort: ({ device }) => device, cell: ({ device }) => device },
  { id: 'created', title: 'Created', width: 168, sort: ({ createdAt }) => createdAt, cell: ({ createdAt }) => formatDate(createdAt) },
];

/** A config key as a column; its values come from a separate call. */
export function configColumn(key: string, values: ReadonlyMap<number, Json>): Column {
  const text = (run: RunRow): string => {
    const value = values.get(run.id);
    return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  };
  return {
    id: `config:${key}`,
    title: key,
    width: Math.max(96, key.length * 7 + 28),
    numeric: true,
    sort: (run) => {
      const value = values.get(run.id);
      return typeof value === 'number' ? value : text(run) || null;
    },
    cell: text,
  };
}

/** A rate with its Wilson interval, aligned so that columns of it can be read down. */
function Share({ value, tasks }: { value: Proportion | null; tasks: string }) {
  if (!value) return <span className={util.faint}>–</span>;
  return (
    <span title={`${value.k} of ${value.n} ${tasks}; 95% interval (Wilson)`}>
      {formatValue(value.rate, 'share')}{' '}
      <span className={styles.interval}>
        {(100 * value.low).toFixed(0)}–{(100 * value.high).toFixed(0)}%
      </span>
    </span>
  );
}

function Updates({ run: { updates, planned, state } }: { run: RunRow }) {
  const numbers = (
    <span>
      {whole.format(updates)} <span className={util.faint}>/ {planned < 10_000 ? whole.format(planned) : compact.format(planned)}</span>
    </span>
  );
  if (state !== 'running' && state !== 'paused' && state !== 'stopping') return numbers;
  return (
    <span className={styles.updates}>
      {numbers}
      <Progress label={`Update ${updates} of ${planned}`} value={planned > 0 ? updates / planned : null} />
    </span>
  );
}
