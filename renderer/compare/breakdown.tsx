// Where runs differ: failure classes over training, success per category, and only the settings that are not the same.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun } from '../../main/lab/features/compare.ts';
import { callOptions } from '../bridge.ts';
import { LineChart } from '../charts/line-chart.tsx';
import type { Series } from '../charts/series.ts';
import { Switch } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { Segmented } from '../components/tabs.tsx';
import { formatValue } from '../format.ts';
import { runStyle } from '../theme/runs.ts';
import { useView } from '../state/view.ts';
import { useGroupLooks } from './curves.tsx';
import { shownValue } from '../../main/base/arms.ts';
import { type Group, meanCurve } from './groups.ts';
import util from '../theme/utilities.module.css';
import { Scrolled } from './scrolled.tsx';
import styles from './compare.module.css';

export function Failures({ data, groups }: { data: Answer<'compare.open'>; groups: readonly Group[] }) {
  const [chosen, choose] = useView('compare.failure', z.string(), '');
  const looks = useGroupLooks(data.runs, groups);
  const counts = new Map<string, number>();
  for (const { failures } of data.runs.flatMap(({ evaluations }) => evaluations))
    for (const [name, share] of Object.entries(failures)) if (share > 0) counts.set(name, (counts.get(name) ?? 0) + share);
  const seen = [...counts.keys()].sort();
  const commonest = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'none';
  const shownClass = counts.has(chosen) ? chosen : commonest;
  const series = groups.map(({ key, runs }): Series => {
    const curves = data.runs
      .filter(({ run }) => runs.includes(run))
      .map(({ run, evaluations }) => ({
        run,
        x: evaluations.map(({ update }) => update),
        y: evaluations.map(({ failures }) => failures[shownClass] ?? 0),
      }));
    const { x, y, low, high, n } = meanCurve(curves);
    return { id: key, label: key, look: looks.get(key) ?? runStyle(0), x, y, ...(n > 1 ? { low, high } : {}) };
  });
  return (
    <Section
      title="Failure classes during training"
      hint="Share of validation tasks that failed this way."
      actions={
        seen.length > 1 && (
          <Segmented label="Failure class" value={shownClass} onValue={choose} options={seen.map((value) => ({ value, label: value }))} />
        )
      }
    >
      <div className={styles.chart}>
        <LineChart title={shownClass} unit="share" series={series} height={220} legend={series.length > 8 ? 'beside' : 'above'} />
      </div>
    </Section>
  );
}

/** Up to so many runs get a column each; more are put together by group. */
const COLUMNS = 8;

export function Categories({ runs, groups }: { runs: readonly ComparedRun[]; groups: readonly Group[] }) {
  const names = [...new Set(runs.flatMap(({ categories }) => Object.keys(categories)))].sort();
  if (names.length === 0) return null;
  const each = runs.length <= COLUMNS;
  const columns = each
    ? runs.map((run) => ({ key: `#${run.run} ${run.variant}`, members: [run] }))
    : groups.map(({ key, runs: ids }) => ({ key, members: runs.filter(({ run }) => ids.includes(run)) }));
  return (
    <Section
      title="Success per category"
      hint={`On the final evaluation; bars show the rate, numbers k of n${each ? '' : ', pooled over seeds'}.`}
    >
      <Grid
        label="Success per category"
        corner="Category"
        columns={columns.map(({ key }) => key)}
        rows={names.map((name) => ({
          key: name,
          head: name,
          cells: columns.map(({ members }) => <Rate key={name} {...pooled(members, name)} />),
        }))}
      />
    </Section>
  );
}

/** A table with a column per run or group. */
function Grid({ label, corner, columns, rows }: { label: string; corner: string; columns: readonly string[]; rows: readonly GridRow[] }) {
  return (
    <Scrolled label={label}>
      <Table label={label}>
        <thead>
          <tr>
            <Head>{corner}</Head>
            {columns.map((key) => (
              <Head key={key} numeric>
                {key}
              </Head>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, head, cells }) => (
            <Row key={key}>
              <Cell>{head}</Cell>
              {columns.map((column, index) => (
                <Cell key={column} numeric muted={cells[index] === '–'}>
                  {cells[index]}
                </Cell>
              ))}
            </Row>
          ))}
        </tbody>
      </Table>
    </Scrolled>
  );
}

interface GridRow {
  readonly key: string;
  readonly head: ReactNode;
  /** One per column. */
  readonly cells: readonly ReactNode[];
}

function Rate({ k, n }: { k: number; n: number }) {
  if (n === 0) return '–';
  return (
    <span className={styles.rate}>
      <span className={styles.rateBar} style={{ width: `${(k / n) * 100}%` }} aria-hidden="true" />
      <span>{formatValue(k / n, 'share')}</span>
      <span className={util.muted}>
        {k} of {n}
      </span>
    </span>
  );
}

function pooled(members: readonly ComparedRun[], category: string): { k: number; n: number } {
  const own = members.flatMap(({ categories }) => categories[category] ?? []);
  return { k: own.reduce((sum, { k }) => sum + k, 0), n: own.reduce((sum, { n }) => sum + n, 0) };
}

export function ConfigDiff({ data, groups }: { data: Answer<'compare.open'>; groups: readonly Group[] }) {
  const [only, setOnly] = useView('compare.onlyDifferences', z.boolean(), true);
  const all = useQuery({ ...callOptions('compare.settings', { runs: data.runs.map(({ run }) => run) }), enabled: !only });
  const settings = only ? data.diff : (all.data?.settings ?? data.diff);
  const columns =
    data.runs.length <= COLUMNS
      ? data.runs.map(({ run, variant }, index) => ({ key: `#${run} ${variant}`, indices: [index] }))
      : groups.map(({ key, runs }) => ({ key, indices: data.runs.flatMap(({ run }, index) => (runs.includes(run) ? [index] : [])) }));
  return (
    <Section
      title="Settings"
      hint={
        only ? `${data.diff.length} ${data.diff.length === 1 ? 'setting differs' : 'settings differ'}.` : `All ${settings.length} settings.`
      }
      actions={<Switch label="Only differences" checked={only} onChecked={setOnly} />}
    >
      {settings.length === 0 ? (
        <p className={util.muted}>The settings are identical.</p>
      ) : (
        <Grid
          label={only ? 'Settings that differ' : 'All settings'}
          corner="Setting"
          columns={columns.map(({ key }) => key)}
          rows={settings.map(({ key, values }) => ({
            key,
            head: <code>{key}</code>,
            cells: columns.map(({ indices }) => {
              const own = [...new Set(indices.map((index) => shownValue(values[index])))];
              return own.length > 3 ? `${own.length} values` : own.join(', ');
            }),
          }))}
        />
      )}
    </Section>
  );
}
