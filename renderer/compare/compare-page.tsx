// Compare: two to many runs side by side. Curves over seeds, final results with paired statistics in words and numbers, what
// differs in their settings, how they fail, who solved what, and two of them on one task. The address holds the selection:
// /compare/1,2,3 or /compare/study-4.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { z } from 'zod';
import type { ComparedRun } from '../../preload/contract/compare.ts';
import { callOptions, useCall } from '../bridge.ts';
import { LinkButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { writeView, useView } from '../state/view.ts';
import type { RunStyle } from '../theme/runs.ts';
import { SampleButton } from '../tour/sample-button.tsx';
import { BudgetTable } from './budget.tsx';
import { Categories, ConfigDiff, Failures } from './breakdown.tsx';
import { Claims } from './claims.tsx';
import { Curves, useGroupLooks } from './curves.tsx';
import { ExportButton } from './export-button.tsx';
import { groupRuns, usualGrouping } from './groups.ts';
import { Results } from './results.tsx';
import { SideBySide } from './side-by-side.tsx';
import { StudyBar } from './study-bar.tsx';
import { TaskMatrix } from './task-matrix.tsx';
import styles from './compare.module.css';

const selectionSchema = z.string();
/** Which two episodes are side by side: a task of the matrix and two runs; null and 0 leave the choice to the page. */
const pairSchema = z.object({ task: z.string().nullable(), left: z.number(), right: z.number() });
export type Pairing = z.infer<typeof pairSchema>;
const NO_PAIR: Pairing = { task: null, left: 0, right: 0 };
const groupingSchema = z.string();

export default function ComparePage() {
  const params = useParams();
  const [remembered, remember] = useView('compare.selection', selectionSchema, '');
  const selection = params.study ?? remembered;
  if (params.study !== undefined && params.study !== remembered) queueMicrotask(() => remember(params.study ?? ''));
  const studies = useCall('studies.list', {});
  const studyId = /^study-(\d+)$/.exec(selection)?.[1];
  const study = studyId === undefined ? undefined : studies.data?.studies.find(({ id }) => id === Number(studyId));
  const runs = useMemo(
    () =>
      studyId === undefined
        ? [
            ...new Set(
              selection
                .split(',')
                .map(Number)
                .filter((id) => Number.isInteger(id) && id > 0),
            ),
          ]
        : (study?.runs ?? []),
    [selection, studyId, study],
  );
  if (studyId !== undefined && studies.isPending) {
    return (
      <Page title="Compare">
        <Loading label="Loading study" />
      </Page>
    );
  }
  if (runs.length === 0) {
    return (
      <Page title="Compare" actions={<StudyBar runs={[]} study={study} />}>
        <EmptyState
          title="Nothing to compare yet"
          actions={
            <>
              <LinkButton href="/">Go to Runs</LinkButton>
              <SampleButton />
            </>
          }
        >
          <p>
            Choose two or more runs here, or select them in Runs and press Compare. Runs that differ only in their seed become one curve
            with an interval.
          </p>
        </EmptyState>
      </Page>
    );
  }
  return <Comparison runs={runs} study={study} />;
}

function Comparison({ runs, study }: { runs: readonly number[]; study: Parameters<typeof StudyBar>[0]['study'] }) {
  const [, navigate] = useLocation();
  const [chosenBaseline, setBaseline] = useState<number | null>(null);
  const [chosenGrouping, setGrouping] = useView('compare.grouping', groupingSchema, '');
  const [pair, setPair] = useView('compare.pair', pairSchema, NO_PAIR);
  const baseline = chosenBaseline !== null && runs.includes(chosenBaseline) ? chosenBaseline : (runs[0] ?? 0);
  const answer = useQuery({ ...callOptions('compare.open', { runs: [...runs], baseline }), placeholderData: keepPreviousData });
  const { data } = answer;
  // Curves and results at once; what lies below the fold is drawn right after.
  const below = useDeferredValue(data, undefined);
  const keys = data?.diff.map(({ key }) => key) ?? [];
  const known = ['run', 'variant', 'name', ...keys].includes(chosenGrouping);
  const grouping = known ? chosenGrouping : data ? usualGrouping(data.runs) : 'variant';
  const groups = useMemo(() => (data ? groupRuns(data.runs, grouping, data.diff) : []), [data, grouping]);
  const looks = useGroupLooks(data?.runs ?? NO_RUNS, groups);
  const view = data && {
    groups: groups.map(({ key, runs: members }) => ({ key, runs: [...members], look: lookOf(looks.get(key)) })),
    baseline,
  };
  const firstDiffering = useMemo(() => differingTask(data), [data]);
  const task = data?.matrix.tasks.some((one) => one.task === pair.task) ? pair.task : firstDiffering;
  const setTask = (next: string): void => setPair({ ...NO_PAIR, task: next });

  const replayAt = (run: number, update: number): void => {
    writeView('replay.view', { filter: { fromUpdate: update, toUpdate: update }, order: 'time', descending: true });
    navigate(`/replay/${run}`);
  };
  return (
    <Page
      title="Compare"
      subtitle={study ? study.name : `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`}
      actions={
        <>
          <StudyBar runs={runs} study={study} />
          <ExportButton runs={runs} title={study?.name ?? titleOf(runs)} view={view} />
        </>
      }
      toolbar={
        data && (
          <span className={styles.groupBy}>
            <label htmlFor="compare-group">Group by</label>
            <Select
              id="compare-group"
              value={grouping}
              options={[
                { value: 'variant', label: 'algorithm (mean over seeds)' },
                { value: 'name', label: 'name (mean over seeds)' },
                { value: 'run', label: 'run (no grouping)' },
                ...keys.map((key) => ({ value: key, label: key })),
              ]}
              onValue={setGrouping}
            />
          </span>
        )
      }
    >
      {answer.isError && <ErrorState title="Could not compare the runs" error={answer.error} retry={() => void answer.refetch()} />}
      {!data && !answer.isError && <Loading label="Comparing runs" rows={8} />}
      {data && !answer.isError && (
        <>
          <Curves data={data} groups={groups} onPoint={replayAt} />
          {study && <Claims study={study.id} />}
          <Results data={data} baseline={baseline} onBaseline={setBaseline} />
        </>
      )}
      {below && !answer.isError && (
        <>
          <BudgetTable data={below} groups={groups} />
          <ConfigDiff data={below} groups={groups} />
          <Failures data={below} groups={groups} />
          <Categories runs={below.runs} groups={groups} />
          <TaskMatrix data={below} chosen={task} onTask={setTask} />
          {task !== null && below.runs.length > 1 && <SideBySide data={below} task={task} pair={pair} onPair={setPair} />}
        </>
      )}
    </Page>
  );
}

const NO_RUNS: readonly ComparedRun[] = [];

/** A colour as its number in the set: the report draws it in its shade. */
function lookOf(look: RunStyle | undefined): { colour: number; dash: number[] } {
  return { colour: Number(/--run-(\d)/.exec(look?.colour ?? '')?.[1] ?? 0), dash: [...(look?.dash ?? [])] };
}

/** Short however many runs there are. */
function titleOf(runs: readonly number[]): string {
  return runs.length <= 8 ? `Runs ${runs.join(', ')}` : `${runs.length} runs, ${Math.min(...runs)} to ${Math.max(...runs)}`;
}

/** The first task that some solved and others did not, else the first that two runs played. */
function differingTask(
  data: { matrix: { tasks: { task: string }[]; columns: { outcome: Int8Array; episode: Float64Array }[] } } | undefined,
): string | null {
  if (!data) return null;
  const { tasks, columns } = data.matrix;
  const kept = (row: number) => columns.filter(({ episode }) => (episode[row] ?? 0) > 0);
  const differs = (row: number): boolean => new Set(kept(row).map(({ outcome }) => outcome[row])).size > 1;
  const rows = tasks.map((_, row) => row);
  const row = rows.find(differs) ?? rows.find((one) => kept(one).length > 1);
  return row === undefined ? null : (tasks[row]?.task ?? null);
}
