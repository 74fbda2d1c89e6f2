// Where runs differ: failure classes over training, success per category, and only the settings that are not the same.

import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun } from '../../preload/contract/compare.ts';
import { LineChart } from '../charts/line-chart.tsx';
import type { Series } from '../charts/series.ts';
import { Section } from '../components/page.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { Segmented } from '../components/tabs.tsx';
import { formatValue } from '../format.ts';
import { runStyle } from '../theme/runs.ts';
import { useView } from '../state/view.ts';
import { useGroupLooks } from './curves.tsx';
import { type Group, meanCurve, shown } from './groups.ts';
import styles from './compare.module.css';

const CLASSES = ['search-loop', 'wrong-purchase', 'unreachable', 'timeout', 'invalid-actions'] as const;

export function Failures({ data, groups }: { data: Answer<'compare.open'>; groups: readonly Group[] }) {
  const [chosen, choose] = useView('compare.failure', z.enum(CLASSES), 'wrong-purchase');
  const looks = useGroupLooks(data.runs, groups);
  const seen = CLASSES.filter((name) => data.runs.some(({ evaluations }) => evaluations.some(({ failures }) => (failures[name] ?? 0) > 0)));
  const shownClass = seen.includes(chosen) ? chosen : (seen[0] ?? chosen);
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
      title="Failure classes over training"
      hint="Share of the held-out tasks that failed this way, at each evaluation."
      actions={
        seen.length > 1 && (
          <Segmented label="Failure class" value={shownClass} onValue={choose} options={seen.map((value) => ({ value, label: value }))} />
        )
      }
    >
      <div className={styles.chart}>
        <LineChart title={shownClass} unit="share" series={series} height={200} />
      </div>
    </Section>
  );
}

export function Categories({ runs }: { runs: readonly ComparedRun[] }) {
  const names = [...new Set(runs.flatMap(({ categories }) => Object.keys(categories)))].sort();
  if (names.length === 0) return null;
  return (
    <Section title="Success per category" hint="On the tasks of the decisive evaluation; the bar is the rate, the numbers are k of n.">
      <div className={styles.scroll}>
        <Table label="Success per category">
          <thead>
            <tr>
              <Head>Category</Head>
              {runs.map(({ run, variant }) => (
                <Head key={run} numeric>
                  #{run} {variant}
                </Head>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <Row key={name}>
                <Cell>{name}</Cell>
                {runs.map(({ run, categories }) => {
                  const value = categories[name];
                  return (
                    <Cell key={run} numeric>
                      {value ? (
                        <span
                          className={styles.rate}
                          title={`95% interval ${formatValue(value.low, 'share')}–${formatValue(value.high, 'share')}`}
                        >
                          <span className={styles.rateBar} style={{ width: `${value.rate * 100}%` }} aria-hidden="true" />
                          <span>{formatValue(value.rate, 'share')}</span>
                          <span className={styles.muted}>
                            {value.k} of {value.n}
                          </span>
                        </span>
                      ) : (
                        '–'
                      )}
                    </Cell>
                  );
                })}
              </Row>
            ))}
          </tbody>
        </Table>
      </div>
    </Section>
  );
}

export function ConfigDiff({ data }: { data: Answer<'compare.open'> }) {
  return (
    <Section title="Settings that differ" hint={data.diff.length === 0 ? undefined : 'Everything else is the same in all of them.'}>
      {data.diff.length === 0 ? (
        <p className={styles.muted}>The settings are the same.</p>
      ) : (
        <div className={styles.scroll}>
          <Table label="Settings that differ">
            <thead>
              <tr>
                <Head>Setting</Head>
                {data.runs.map(({ run, variant }) => (
                  <Head key={run} numeric>
                    #{run} {variant}
                  </Head>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.diff.map(({ key, values }) => (
                <Row key={key}>
                  <Cell>
                    <code>{key}</code>
                  </Cell>
                  {values.map((value, index) => (
                    <Cell key={index} numeric muted={value === undefined}>
                      {shown(value)}
                    </Cell>
                  ))}
                </Row>
              ))}
            </tbody>
          </Table>
        </div>
      )}
    </Section>
  );
}
