// Compare: two to many runs side by side, as arms. Curves over seeds, arms against the baseline arm, the runs below them, what they
// spent, what differs in their settings, how they fail, who solved what, and two of them on one task. The address holds the selection:
// /compare/1,2,3 or /compare/study-4.

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { ComparedRun, Matrix } from '../../main/lab/features/compare.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { LinkButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { filterEpisodes } from '../replay/list-view.ts';
import { readView, useView } from '../state/view.ts';
import type { RunStyle } from '../theme/runs.ts';
import { SampleButton } from '../tour/sample-button.tsx';
import { Arms } from './arms.tsx';
import { BudgetTable } from './budget.tsx';
import { Categories, ConfigDiff, Failures } from './breakdown.tsx';
import { Claims } from './claims.tsx';
import { Curves, useGroupLooks } from './curves.tsx';
import { ExportButton } from './export-button.tsx';
import { usualGrouping } from '../../main/base/arms.ts';
import { type Group, groupRuns } from './groups.ts';
import { ParameterView } from './parameter-view.tsx';
import { Planner } from './planner.tsx';
import { Profiles } from './profiles.tsx';
import { RunResults } from './run-results.tsx';
import { SideBySide } from './side-by-side.tsx';
import { StudyBar } from './study-bar.tsx';
import { TaskMatrix } from './task-matrix.tsx';
import util from '../theme/utilities.module.css';
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
  useEffect(() => {
    if (params.study !== undefined && params.study !== remembered) remember(params.study);
  }, [params.study, remembered, remember]);
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
  const answer = useOpened(runs);
  const { data } = answer;
  const { grouping, setGrouping, groups, looks } = useGroups(data);
  const [chosenBaseline, setBaseline] = useState<string | null>(null);
  const baseline = groups.find(({ key }) => key === chosenBaseline)?.key ?? groups[0]?.key ?? '';
  const arms = useArms(groups, baseline);
  // Curves and arms at once; what lies below the fold is drawn right after.
  const below = useDeferredValue(arms ? data : undefined, undefined);
  const view = data && {
    groups: groups.map(({ key, runs: members }) => ({ key, runs: [...members], look: lookOf(looks.get(key)) })),
    baseline,
  };
  const replayAt = (run: number, update: number): void => {
    filterEpisodes(run, { fromUpdate: update, toUpdate: update });
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
      toolbar={data && <Grouping {...{ data, grouping, setGrouping }} arms={groups.length} />}
    >
      {answer.isError && <ErrorState title="Could not compare the runs" error={answer.error} retry={() => void answer.refetch()} />}
      {!data && !answer.isError && <Loading label="Comparing runs" rows={8} />}
      {data && !answer.isError && (
        <>
          <Curves data={data} groups={groups} onPoint={replayAt} />
          {study && <Claims study={study.id} ready={arms !== undefined} />}
          <Arms {...{ data, groups, looks, baseline }} answer={arms} onBaseline={setBaseline} />
        </>
      )}
      {below && !answer.isError && <Below {...{ data: below, groups, looks, baseline }} />}
    </Page>
  );
}

/** The runs; their arms, as they will be shown, are asked for at once, so that they are worked out while the curves are drawn. */
function useOpened(runs: readonly number[]) {
  const client = useQueryClient();
  const { queryKey } = callOptions('compare.open', { runs: [...runs] });
  const queryFn = async (): Promise<Answer<'compare.open'>> => {
    const data = await call('compare.open', { runs: [...runs] });
    const grouping = groupingOf(data, readView('compare.grouping', groupingSchema, ''));
    const groups = groupRuns(data.runs, grouping, data.diff);
    const [first] = groups;
    if (first) void client.prefetchQuery(callOptions('compare.arms', { groups: asked(groups), baseline: first.key }));
    return data;
  };
  return useQuery({ queryKey, queryFn, placeholderData: keepPreviousData });
}

/** What the reader chose, where these runs have it, else what tells them apart. */
function groupingOf({ runs, diff }: Answer<'compare.open'>, chosen: string): string {
  const known = ['config', 'run', 'variant', ...diff.map(({ key }) => key)].includes(chosen);
  return known ? chosen : usualGrouping(runs);
}

const asked = (groups: readonly Group[]) => groups.map(({ key, runs }) => ({ key, runs: [...runs] }));

/** The runs as arms. */
function useGroups(data: Answer<'compare.open'> | undefined) {
  const [chosen, setGrouping] = useView('compare.grouping', groupingSchema, '');
  const grouping = data ? groupingOf(data, chosen) : 'config';
  const groups = useMemo(() => (data ? groupRuns(data.runs, grouping, data.diff) : []), [data, grouping]);
  const looks = useGroupLooks(data?.runs ?? NO_RUNS, groups);
  return { grouping, setGrouping, groups, looks };
}

/** The arms against the baseline; while another baseline is worked out, the last answer stays. */
function useArms(groups: readonly Group[], baseline: string): Answer<'compare.arms'> | undefined {
  const input = useMemo(() => ({ groups: asked(groups), baseline }), [groups, baseline]);
  const { data } = useQuery({
    ...callOptions('compare.arms', input),
    enabled: groups.length > 0,
    placeholderData: keepPreviousData,
  });
  return data;
}

interface GroupingProps {
  data: Answer<'compare.open'>;
  grouping: string;
  setGrouping: (grouping: string) => void;
  arms: number;
}

function Grouping({ data, grouping, setGrouping, arms }: GroupingProps) {
  return (
    <span className={styles.groupBy}>
      <label htmlFor="compare-group">Arms by</label>
      <Select
        id="compare-group"
        value={grouping}
        options={[
          { value: 'config', label: 'configuration (mean over seeds)' },
          { value: 'variant', label: 'algorithm (mean over its runs)' },
          { value: 'run', label: 'run (no grouping)' },
          ...data.diff.map(({ key }) => ({ value: key, label: key })),
        ]}
        onValue={setGrouping}
      />
      <span className={util.muted}>
        {arms} {arms === 1 ? 'arm' : 'arms'}, {data.runs.length} {data.runs.length === 1 ? 'run' : 'runs'}
      </span>
    </span>
  );
}

interface BelowProps {
  data: Answer<'compare.open'>;
  groups: readonly Group[];
  looks: ReadonlyMap<string, RunStyle>;
  baseline: string;
}

function Below({ data, groups, looks, baseline }: BelowProps) {
  const worlds = new Set(data.runs.map(({ world }) => world)).size;
  return (
    <>
      <RunResults {...{ data, groups, baseline }} />
      {worlds > 1 && <Profiles groups={groups} looks={looks} />}
      <ParameterView {...{ data, groups, looks }} />
      <BudgetTable groups={groups} />
      <ConfigDiff data={data} groups={groups} />
      <Planner groups={groups} baseline={baseline} />
      <Failures data={data} groups={groups} />
      <Categories runs={data.runs} groups={groups} />
      <Tasks data={data} />
    </>
  );
}

/** Who solved what, and two runs on one task. */
function Tasks({ data: { runs } }: { data: Answer<'compare.open'> }) {
  const [pair, setPair] = useView('compare.pair', pairSchema, NO_PAIR);
  const { data } = useCall('compare.tasks', { runs: runs.map(({ run }) => run) });
  const firstDiffering = useMemo(() => (data ? differingTask(data.matrix) : null), [data]);
  if (!data) return null;
  const { matrix } = data;
  const task = matrix.tasks.some((one) => one.task === pair.task) ? pair.task : firstDiffering;
  return (
    <>
      <TaskMatrix runs={runs} matrix={matrix} chosen={task} onTask={(next) => setPair({ ...NO_PAIR, task: next })} />
      {task !== null && runs.length > 1 && <SideBySide runs={runs} matrix={matrix} task={task} pair={pair} onPair={setPair} />}
    </>
  );
}

const NO_RUNS: readonly ComparedRun[] = [];

/** As the report takes it. */
function lookOf(look: RunStyle | undefined): { colour: number; dash: number[] } {
  return { colour: look?.hue ?? 0, dash: [...(look?.dash ?? [])] };
}

/** Short however many runs there are. */
function titleOf(runs: readonly number[]): string {
  return runs.length <= 8 ? `Runs ${runs.join(', ')}` : `${runs.length} runs, ${Math.min(...runs)} to ${Math.max(...runs)}`;
}

/** The first task that some solved and others did not, else the first that two runs played. */
function differingTask({ tasks, columns }: Matrix): string | null {
  const kept = (row: number) => columns.filter(({ episode }) => (episode[row] ?? 0) > 0);
  const differs = (row: number): boolean => new Set(kept(row).map(({ outcome }) => outcome[row])).size > 1;
  const rows = tasks.map((_, row) => row);
  const row = rows.find(differs) ?? rows.find((one) => kept(one).length > 1);
  return row === undefined ? null : (tasks[row]?.task ?? null);
}
