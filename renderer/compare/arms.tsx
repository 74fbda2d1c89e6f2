// Arms, the unit of a comparison: success with its interval, each against the baseline arm over the seeds and tasks that both have,
// and under each arm its runs.

import { Fragment, useState } from 'react';
import type { Answer } from '../../preload/contract.ts';
import type { ComparedArm, ComparedPair, ComparedRun } from '../../main/lab/features/compare.ts';
import { pValue, signedPoints } from '../../main/base/format.ts';
import { IconButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Icon } from '../components/icons.tsx';
import { Section } from '../components/page.tsx';
import { RunLabel } from '../components/run-label.tsx';
import { Badge } from '../components/stat.tsx';
import { Loading } from '../components/states.tsx';
import { Cell, Head, Row, type SortOrder, Table } from '../components/table.tsx';
import { Explain } from '../components/tooltip.tsx';
import { formatDuration, formatValue } from '../format.ts';
import { runStyle, type RunStyle } from '../theme/runs.ts';
import type { Group } from './groups.ts';
import util from '../theme/utilities.module.css';
import styles from './compare.module.css';

const share = (value: number): string => formatValue(value, 'share');
const ALPHA = 0.05;

interface ArmsProps {
  data: Answer<'compare.open'>;
  groups: readonly Group[];
  looks: ReadonlyMap<string, RunStyle>;
  answer: Answer<'compare.arms'> | undefined;
  baseline: string;
  onBaseline: (key: string) => void;
}

export function Arms({ data, groups, looks, answer, baseline, onBaseline }: ArmsProps) {
  const [words, setWords] = useState(false);
  const several = groups.some(({ runs }) => runs.length > 1);
  const pairs = answer?.pairs ?? [];
  return (
    <Section
      title="Results"
      tourId="results"
      hint={
        several
          ? 'Test success, mean over seeds, with 95% intervals over seeds and clusters of tasks (the latest validation where a run is unfinished).'
          : 'Final evaluation on test tasks (the latest validation if unfinished), with 95% intervals over clusters of tasks.'
      }
      actions={
        groups.length > 1 && (
          <span className={styles.against}>
            <label htmlFor="compare-baseline">Baseline</label>
            <Select
              id="compare-baseline"
              value={baseline}
              options={groups.map(({ key }) => ({ value: key, label: key }))}
              onValue={onBaseline}
            />
          </span>
        )
      }
    >
      <Mismatches data={data} />
      {answer ? <ArmTable {...{ data, looks, answer, baseline }} /> : <Loading label="Comparing arms" rows={Math.min(8, groups.length)} />}
      {pairs.some(({ otherSettings }) => otherSettings) && (
        <p className={util.muted}>* The same tasks in a world with other settings than the baseline’s. In brackets: clusters of tasks.</p>
      )}
      {pairs.length > 0 && (
        <details className={styles.summary} open={pairs.length <= 6 || words} onToggle={(event) => setWords(event.currentTarget.open)}>
          <summary>Summary in words</summary>
          <ul className={styles.sentences}>
            {pairs.map(({ key, words: sentence }) => (
              <li key={key}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
      {answer && groups.length > 1 && pairs.length === 0 && (
        <p className={util.muted}>No arm has been evaluated on the same tasks as the baseline yet.</p>
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

type Column = 'key' | 'seeds' | 'success' | 'difference' | 'p';
interface Sorting {
  readonly column: Column;
  readonly descending: boolean;
}

interface ArmRowData {
  readonly arm: ComparedArm;
  readonly pair: ComparedPair | undefined;
}

function ArmTable({
  data,
  looks,
  answer: { arms, pairs },
  baseline,
}: Pick<ArmsProps, 'data' | 'looks' | 'baseline'> & { answer: Answer<'compare.arms'> }) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = sorted(
    arms.map((arm): ArmRowData => ({ arm, pair: pairs.find(({ key }) => key === arm.key) })),
    sorting,
  );
  // Across a difference that matters nothing is the best.
  const best = data.mismatches.length > 0 ? Number.NaN : Math.max(...arms.map(({ success }) => success?.value ?? -1));
  const sortBy = (column: Column) => ({
    sort: (sorting?.column !== column ? 'none' : sorting.descending ? 'descending' : 'ascending') as SortOrder,
    onSort: () => setSorting(next(sorting, column)),
  });
  const toggle = (key: string): void => {
    const now = new Set(open);
    if (!now.delete(key)) now.add(key);
    setOpen(now);
  };
  return (
    <div className={styles.scroll}>
      <Table label="Arms">
        <thead>
          <tr>
            <Head {...sortBy('key')}>Arm</Head>
            <Head numeric {...sortBy('seeds')}>
              Runs
            </Head>
            <Head numeric {...sortBy('success')}>
              Success
            </Head>
            <Head numeric>95% interval</Head>
            <Head numeric>IQM</Head>
            <Head numeric {...sortBy('difference')}>
              vs. baseline
            </Head>
            <Head numeric>95% interval</Head>
            <Head numeric {...sortBy('p')}>
              p
            </Head>
            <Head numeric>
              p (Holm) <PExplain />
            </Head>
            <Head>Verdict</Head>
            <Head numeric>Tasks × seeds</Head>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ arm, pair }) => (
            <Fragment key={arm.key}>
              <ArmRow
                {...{ arm, pair, baseline }}
                look={looks.get(arm.key) ?? runStyle(0)}
                best={arm.success?.value === best && arms.length > 1}
                open={open.has(arm.key)}
                onToggle={() => toggle(arm.key)}
              />
              {open.has(arm.key) && <MemberRows runs={data.runs.filter(({ run }) => arm.runs.includes(run))} />}
            </Fragment>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

function PExplain() {
  return (
    <Explain what="p (Holm)">
      <p>
        Two-sided, for no difference. Seeds and clusters of tasks (tasks of one product or template) are the sample: two-way clustered
        variance and Student’s t; with one seed each, an exact test over clusters. Holm’s correction is for all arms compared with the
        baseline.
      </p>
    </Explain>
  );
}

interface ArmRowProps extends ArmRowData {
  baseline: string;
  look: RunStyle;
  best: boolean;
  open: boolean;
  onToggle: () => void;
}

function ArmRow({ arm: { key, evaluated, runs, success, iqm }, pair, baseline, look, best, open, onToggle }: ArmRowProps) {
  return (
    <Row data-arm={key}>
      <Cell>
        <span className={styles.armName}>
          <IconButton icon={open ? 'chevronDown' : 'chevronRight'} label={`Runs of ${key}`} aria-expanded={open} onClick={onToggle} />
          <RunLabel name={key} look={look} />
        </span>
      </Cell>
      <Cell numeric>
        {evaluated}
        {evaluated < runs.length && <span className={util.muted}> of {runs.length}</span>}
      </Cell>
      <Cell numeric>{success ? best ? <strong>{share(success.value)}</strong> : share(success.value) : '–'}</Cell>
      <Cell numeric muted>
        {success ? `${share(success.low)}–${share(success.high)}` : '–'}
      </Cell>
      <Cell numeric muted>
        {iqm === null || evaluated < 2 ? '–' : share(iqm)}
      </Cell>
      {key === baseline ? (
        <Cell numeric muted>
          baseline
        </Cell>
      ) : (
        <Cell numeric>{pair ? signedPoints(pair.difference) : '–'}</Cell>
      )}
      <Cell numeric muted>
        {pair ? `${signedPoints(pair.low)} to ${signedPoints(pair.high)}` : '–'}
      </Cell>
      <Cell numeric>{pair ? pValue(pair.p) : '–'}</Cell>
      <Cell numeric>{pair ? pValue(pair.holm) : '–'}</Cell>
      <Cell>{pair && <Verdict pair={pair} />}</Cell>
      <Cell numeric muted>
        {pair && <RestsOn pair={pair} />}
      </Cell>
    </Row>
  );
}

function Verdict({ pair: { difference, p, holm } }: { pair: ComparedPair }) {
  const side = difference > 0 ? 'better' : 'worse';
  if (holm <= ALPHA) return <Badge tone="accent">{side}</Badge>;
  if (p > ALPHA) return <Badge tone="neutral">inconclusive</Badge>;
  return (
    <span title="Clear by itself, but not after the correction for the number of comparisons">
      <Badge tone="neutral">{side}, uncorrected</Badge>
    </span>
  );
}

const PAIRINGS = {
  same: 'The same seeds on both sides',
  order: 'Different seeds, paired in order',
  one: 'One seed: nothing is known of other seeds',
};

function RestsOn({ pair: { tasks, clusters, seeds, pairing, otherSettings } }: { pair: ComparedPair }) {
  const notes = [PAIRINGS[pairing], ...(otherSettings ? ['The worlds of the two have different settings'] : [])];
  return (
    <span title={`${tasks} tasks in ${clusters} clusters × ${seeds} ${seeds === 1 ? 'seed' : 'seeds'}. ${notes.join('. ')}.`}>
      {clusters < tasks ? `${tasks} (${clusters})` : tasks} × {seeds}
      {pairing === 'order' && ' in order'}
      {otherSettings && ' *'}
    </span>
  );
}

function MemberRows({ runs }: { runs: readonly ComparedRun[] }) {
  return runs.map(({ run, name, seed, success, updates, seconds }) => (
    <Row key={run} data-member={run}>
      <Cell>
        <a className={styles.member} href={`#/runs/${run}`}>
          #{run} {name}, seed {seed}
        </a>
      </Cell>
      <Cell />
      <Cell numeric>{success ? share(success.rate) : '–'}</Cell>
      <Cell numeric muted>
        {success ? `${share(success.low)}–${share(success.high)}` : '–'}
      </Cell>
      <Cell colSpan={7} muted>
        {success && `${success.k} of ${success.n} tasks, `}
        {updates} updates, {formatDuration(seconds)}
      </Cell>
    </Row>
  ));
}

/** Numbers begin with the highest, names with A; the third press restores the order. */
function next(sorting: Sorting | null, column: Column): Sorting | null {
  const first = column !== 'key' && column !== 'p';
  if (sorting?.column !== column) return { column, descending: first };
  return sorting.descending === first ? { column, descending: !first } : null;
}

function sorted(rows: readonly ArmRowData[], sorting: Sorting | null): readonly ArmRowData[] {
  if (!sorting) return rows;
  const { column, descending } = sorting;
  const factor = descending ? -1 : 1;
  if (column === 'key') return rows.toSorted((a, b) => factor * a.arm.key.localeCompare(b.arm.key, 'en', { numeric: true }));
  const value = ({ arm, pair }: ArmRowData): number | undefined =>
    ({ seeds: arm.evaluated, success: arm.success?.value, difference: pair?.difference, p: pair?.p })[column];
  // What has no value comes last, whichever way.
  return rows.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return factor * (x - y);
  });
}
