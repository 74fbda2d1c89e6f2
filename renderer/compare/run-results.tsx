// The single runs: their final results, and each against the baseline arm's run of the same seed, task by task.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { Pair } from '../../main/lab/features/compare.ts';
import { pValue, signedPoints } from '../../main/base/format.ts';
import { callOptions } from '../bridge.ts';
import { Section } from '../components/page.tsx';
import { RunLabel } from '../components/run-label.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { Tabs } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { formatDuration, formatValue } from '../format.ts';
import { useView } from '../state/view.ts';
import { runStyle, useRunStyles } from '../theme/runs.ts';
import { type Group, runPairs } from './groups.ts';
import util from '../theme/utilities.module.css';
import { Scrolled } from './scrolled.tsx';
import styles from './compare.module.css';

interface RunsProps {
  data: Answer<'compare.open'>;
  groups: readonly Group[];
  /** The arm that the others are measured against. */
  baseline: string;
}

/** More rows than this scroll by themselves. */
const MANY = 20;

const share = (value: number): string => formatValue(value, 'share');

export function RunResults({ data, groups, baseline }: RunsProps) {
  const [tab, setTab] = useView('compare.results', z.enum(['runs', 'numbers', 'words']), 'runs');
  const pairs = useMemo(() => runPairs(data.runs, groups, baseline), [data, groups, baseline]);
  const { data: answer } = useQuery({
    ...callOptions('compare.pairs', { pairs }),
    enabled: pairs.length > 0,
    placeholderData: keepPreviousData,
  });
  const paired = pairs.length === 0 ? [] : (answer?.paired ?? []);
  const several = groups.some(({ runs }) => runs.length > 1);
  return (
    <Section
      title="Runs"
      hint={`Each run against the baseline arm’s run${several ? ' of the same seed' : ''}, on the tasks that both played. 95% intervals of a single run are Wilson’s.`}
    >
      <Tabs
        label="Runs"
        value={tab}
        onValue={setTab}
        tabs={[
          { value: 'runs', label: 'Runs', count: data.runs.length, content: <RunTable {...{ data, paired, groups, baseline }} /> },
          { value: 'numbers', label: 'Paired by task', count: paired.length, content: <PairTable paired={paired} /> },
          {
            value: 'words',
            label: 'In words',
            content: (
              <ul className={styles.sentences}>
                {(answer?.words ?? []).map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
                {paired.length === 0 && <li>No two runs have been evaluated on the same tasks yet.</li>}
              </ul>
            ),
          },
        ]}
      />
    </Section>
  );
}

function RunTable({ data: { runs, mismatches }, paired, groups, baseline }: RunsProps & { paired: readonly Pair[] }) {
  const base = groups.find(({ key }) => key === baseline)?.runs ?? [];
  const looks = useRunStyles(runs.map(({ run }) => String(run)));
  // Across a difference that matters nothing is the best.
  const best = mismatches.length > 0 ? Number.NaN : Math.max(...runs.map(({ success }) => success?.rate ?? -1));
  return (
    <Scrolled label="Final results" tall={runs.length > MANY}>
      <Table label="Final results">
        <thead>
          <tr>
            <Head>Run</Head>
            <Head>Algorithm</Head>
            <Head numeric>Seed</Head>
            <Head numeric>Updates</Head>
            <Head numeric>Success</Head>
            <Head numeric>95% interval</Head>
            <Head numeric>k of n</Head>
            <Head numeric>vs. baseline</Head>
            <Head numeric>Best validation</Head>
            <Head numeric>Reference success</Head>
            <Head numeric>Return</Head>
            <Head numeric>Steps</Head>
            <Head numeric>Time</Head>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => {
            const pair = paired.find(({ a }) => a === run.run);
            return (
              <Row key={run.run}>
                <Cell>
                  <a className={styles.runLink} href={`#/runs/${run.run}`}>
                    <RunLabel name={`#${run.run} ${run.name}`} look={looks.get(String(run.run)) ?? runStyle(0)} />
                  </a>
                </Cell>
                <Cell>{run.variant}</Cell>
                <Cell numeric>{run.seed}</Cell>
                <Cell numeric>
                  {run.updates}
                  {run.updates < run.planned && <span className={util.muted}>/{run.planned}</span>}
                </Cell>
                <Cell numeric>
                  {run.success ? run.success.rate === best ? <strong>{share(run.success.rate)}</strong> : share(run.success.rate) : '–'}
                </Cell>
                <Cell numeric muted>
                  {run.success ? `${share(run.success.low)}–${share(run.success.high)}` : '–'}
                </Cell>
                <Cell numeric muted>
                  {run.success ? `${run.success.k} of ${run.success.n}` : '–'}
                </Cell>
                <Cell numeric>
                  {base.includes(run.run) ? <span className={util.muted}>baseline</span> : pair ? <Versus pair={pair} /> : '–'}
                </Cell>
                <Cell numeric muted>
                  {run.best ? `${share(run.best.rate)} at ${run.best.update}` : '–'}
                </Cell>
                <Cell numeric muted>
                  {run.reference ? share(run.reference.rate) : '–'}
                </Cell>
                <Cell numeric>{run.return === null ? '–' : formatValue(run.return)}</Cell>
                <Cell numeric>{run.steps === null ? '–' : formatValue(run.steps)}</Cell>
                <Cell numeric muted>
                  {formatDuration(run.seconds)}
                </Cell>
              </Row>
            );
          })}
        </tbody>
      </Table>
    </Scrolled>
  );
}

/** The difference, and on how many tasks it rests where those are not all that both played. */
function Versus({ pair: { b, difference, n, clusters, ofA, ofB } }: { pair: Pair }) {
  const rests = `Against run ${b} on ${n} shared tasks in ${clusters} clusters`;
  if (n === ofA && n === ofB) return <span title={rests}>{signedPoints(difference)}</span>;
  return (
    <span title={`${rests}, of ${ofA} and ${ofB} played`}>
      {signedPoints(difference)} <span className={util.muted}>on {n}</span>
    </span>
  );
}

function PairTable({ paired }: { paired: readonly Pair[] }) {
  return (
    <Scrolled label="Paired statistics" tall={paired.length > MANY}>
      <Table label="Paired statistics">
        <thead>
          <tr>
            <Head>Pair</Head>
            <Head numeric>Tasks</Head>
            <Head numeric>Clusters</Head>
            <Head numeric>Both</Head>
            <Head numeric>First only</Head>
            <Head numeric>Second only</Head>
            <Head numeric>Neither</Head>
            <Head numeric>Difference, points</Head>
            <Head numeric>95% interval</Head>
            <Head numeric>
              p{' '}
              <Explain what="p">
                <p>
                  Exact, two-sided: the probability of a difference at least this large by chance, given the tasks that only one of the two
                  solved, when the tasks of a cluster (one product or template) stand or fall together. Where every cluster is a single task
                  it is McNemar’s test. It says nothing of other seeds.
                </p>
              </Explain>
            </Head>
            <Head numeric>P(better)</Head>
            <Head numeric>Return difference</Head>
          </tr>
        </thead>
        <tbody>
          {paired.map((pair) => (
            <Row key={`${pair.a}-${pair.b}`}>
              <Cell>
                #{pair.a} − #{pair.b}
              </Cell>
              <Cell numeric>
                {pair.n}
                {(pair.n < pair.ofA || pair.n < pair.ofB) && (
                  <span className={util.muted}>
                    {' '}
                    of {pair.ofA} and {pair.ofB}
                  </span>
                )}
              </Cell>
              <Cell numeric>{pair.clusters}</Cell>
              <Cell numeric>{pair.both}</Cell>
              <Cell numeric>{pair.onlyA}</Cell>
              <Cell numeric>{pair.onlyB}</Cell>
              <Cell numeric>{pair.neither}</Cell>
              <Cell numeric>
                <strong>{signedPoints(pair.difference)}</strong>
              </Cell>
              <Cell numeric muted>
                {signedPoints(pair.low)} to {signedPoints(pair.high)}
              </Cell>
              <Cell numeric>{pValue(pair.p)}</Cell>
              <Cell numeric>{pair.improvement.toFixed(2)}</Cell>
              <Cell numeric muted>
                {formatValue(pair.returns.value)} ({formatValue(pair.returns.low)} to {formatValue(pair.returns.high)})
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </Scrolled>
  );
}
