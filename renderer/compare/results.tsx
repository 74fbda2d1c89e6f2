// The final table, what it means in words, and the numbers behind the words: paired on the same tasks.

import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { Estimate, Pair } from '../../preload/contract/compare.ts';
import { Select } from '../components/field.tsx';
import { Icon } from '../components/icons.tsx';
import { Section } from '../components/page.tsx';
import { RunLabel } from '../components/run-label.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { Tabs } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { pValue, signedPoints } from '../../main/format.ts';
import { formatDuration, formatValue } from '../format.ts';
import { useView } from '../state/view.ts';
import { runStyle, useRunStyles } from '../theme/runs.ts';
import util from '../theme/utilities.module.css';
import styles from './compare.module.css';

interface ResultsProps {
  data: Answer<'compare.open'>;
  baseline: number;
  onBaseline: (run: number) => void;
}

/** More rows than this scroll by themselves. */
const MANY = 20;

const share = (value: number): string => formatValue(value, 'share');

export function Results({ data, baseline, onBaseline }: ResultsProps) {
  const [tab, setTab] = useView('compare.results', z.enum(['words', 'numbers', 'groups']), 'words');
  const name = (run: number): string => data.runs.find((one) => one.run === run)?.name ?? String(run);
  return (
    <Section title="Results" hint="Final evaluation on test tasks (the latest validation if unfinished). 95% intervals (Wilson).">
      <Mismatches data={data} />
      <RunTable data={data} baseline={baseline} />
      {data.runs.length > 1 && (
        <div className={styles.statistics}>
          <div className={styles.against}>
            <label htmlFor="compare-baseline">Baseline</label>
            <Select
              id="compare-baseline"
              value={String(baseline)}
              options={data.runs.map(({ run, variant, seed }) => ({
                value: String(run),
                label: `#${run} ${name(run)} (${variant}, seed ${seed})`,
              }))}
              onValue={(value) => onBaseline(Number(value))}
            />
          </div>
          <Tabs
            label="Statistics"
            value={tab}
            onValue={setTab}
            tabs={[
              {
                value: 'words',
                label: 'Summary',
                content: (
                  <ul className={styles.sentences}>
                    {data.words.map((sentence) => (
                      <li key={sentence}>{sentence}</li>
                    ))}
                    {data.words.length === 0 && <li>No two runs have been evaluated on the same tasks yet.</li>}
                  </ul>
                ),
              },
              { value: 'numbers', label: 'Paired by task', count: data.paired.length, content: <PairTable paired={data.paired} /> },
              { value: 'groups', label: 'Over seeds', count: data.groups.length, content: <GroupTable groups={data.groups} /> },
            ]}
          />
        </div>
      )}
    </Section>
  );
}

/** Named above the table: what differs between the runs apart from what is compared. */
function Mismatches({ data: { mismatches } }: { data: Answer<'compare.open'> }) {
  if (mismatches.length === 0) return null;
  return (
    <div className={styles.mismatch} role="status">
      <Icon name="warning" />
      <div>
        <strong>Not directly comparable.</strong>
        <ul>
          {mismatches.map(({ what, words }) => (
            <li key={what}>{words}</li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function RunTable({ data: { runs, paired, mismatches }, baseline }: { data: Answer<'compare.open'>; baseline: number }) {
  const looks = useRunStyles(runs.map(({ run }) => String(run)));
  // Across a difference that matters nothing is the best.
  const best = mismatches.length > 0 ? Number.NaN : Math.max(...runs.map(({ success }) => success?.rate ?? -1));
  return (
    <div className={runs.length > MANY ? styles.tall : styles.scroll}>
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
            const pair = paired.find(({ a, b }) => a === run.run && b === baseline);
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
                  {run.run === baseline ? <span className={util.muted}>baseline</span> : pair ? <Versus pair={pair} /> : '–'}
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
    </div>
  );
}

/** The difference, and on how many tasks it rests where those are not all that both played. */
function Versus({ pair: { difference, n, ofA, ofB } }: { pair: Pair }) {
  if (n === ofA && n === ofB) return signedPoints(difference);
  return (
    <span title={`On the ${n} tasks that both played, of ${ofA} and ${ofB}`}>
      {signedPoints(difference)} <span className={util.muted}>on {n}</span>
    </span>
  );
}

function PairTable({ paired }: { paired: readonly Pair[] }) {
  return (
    <div className={styles.scroll}>
      <Table label="Paired statistics">
        <thead>
          <tr>
            <Head>Pair</Head>
            <Head numeric>Tasks</Head>
            <Head numeric>Both</Head>
            <Head numeric>First only</Head>
            <Head numeric>Second only</Head>
            <Head numeric>Neither</Head>
            <Head numeric>Difference, points</Head>
            <Head numeric>95% interval</Head>
            <Head numeric>
              McNemar p{' '}
              <Explain what="McNemar p">
                <p>
                  Exact, two-sided: the probability of a difference at least this large by chance, given the tasks that only one of the two
                  solved.
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
              <Cell numeric>{pair.n}</Cell>
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
    </div>
  );
}

function GroupTable({ groups }: { groups: Answer<'compare.open'>['groups'] }) {
  return (
    <Table label="Over seeds">
      <thead>
        <tr>
          <Head>Arm</Head>
          <Head numeric>Seeds</Head>
          <Head numeric>Mean over categories</Head>
          <Head numeric>Interquartile mean</Head>
        </tr>
      </thead>
      <tbody>
        {groups.map(({ name, runs, mean, iqm }) => (
          <Row key={name}>
            <Cell>{name}</Cell>
            <Cell numeric>{runs.length}</Cell>
            <Cell numeric>
              <Spread estimate={mean} seeds={runs.length} />
            </Cell>
            <Cell numeric>
              <Spread estimate={iqm} seeds={runs.length} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

/** One seed has no spread, so it gets no interval. */
function Spread({ estimate: { value, low, high }, seeds }: { estimate: Estimate; seeds: number }) {
  return (
    <>
      {share(value)} <span className={util.muted}>{seeds > 1 ? `(${share(low)}–${share(high)})` : '(one seed)'}</span>
    </>
  );
}
