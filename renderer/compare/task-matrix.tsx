// Who solved what: a row for every task, a column for every run. A cell opens the episode; a row puts two runs side by side.

import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import type { CSSProperties } from 'react';
import { z } from 'zod';
import type { ComparedRun, Matrix } from '../../main/lab/features/compare.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { Section } from '../components/page.tsx';
import { Segmented } from '../components/tabs.tsx';
import { useView } from '../state/view.ts';
import util from '../theme/utilities.module.css';
import styles from './compare.module.css';

const ROW = 28;

interface TaskMatrixProps {
  runs: readonly ComparedRun[];
  matrix: Matrix;
  onTask: (task: string) => void;
  chosen: string | null;
}

export function TaskMatrix({ runs, matrix, onTask, chosen }: TaskMatrixProps) {
  const [which, setWhich] = useView('compare.tasks', z.enum(['all', 'differ', 'none']), 'differ');
  const scroller = useRef<HTMLDivElement>(null);
  const { tasks, columns } = matrix;
  const rows = useMemo(() => sortTasks({ tasks, columns }), [tasks, columns]);
  const list = rows[which];
  const virtual = useVirtualizer({ count: list.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 8 });
  const width = 150 + columns.length * 34 + 92 + 24;
  const template = `minmax(150px, 1.4fr) repeat(${columns.length}, minmax(34px, 1fr)) 92px`;
  if (tasks.length === 0) return null;
  return (
    <Section
      title="Tasks"
      hint={`Outcome of ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'} per run. Click a mark to replay the episode.`}
      actions={
        <Segmented
          label="Tasks to show"
          value={which}
          onValue={setWhich}
          options={[
            { value: 'differ', label: `Differ (${rows.differ.length})` },
            { value: 'none', label: `Unsolved (${rows.none.length})` },
            { value: 'all', label: `All (${rows.all.length})` },
          ]}
        />
      }
    >
      <div className={styles.matrix}>
        <div ref={scroller} className={styles.matrixBody} role="group" aria-label="Tasks and runs" tabIndex={0}>
          <div className={styles.matrixHead} style={{ gridTemplateColumns: template, minWidth: width }}>
            <span>Task</span>
            {columns.map(({ run }) => (
              <span key={run} title={runs.find((one) => one.run === run)?.name}>
                #{run}
              </span>
            ))}
            <span />
          </div>
          {list.length === 0 && <p className={styles.nothing}>{which === 'differ' ? 'All runs agree on every task.' : 'None'}</p>}
          <div style={{ height: virtual.getTotalSize(), minWidth: width, position: 'relative' }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = list[index] ?? 0;
              const task = tasks[row];
              if (!task) return null;
              return (
                <MatrixRow
                  key={row}
                  {...{ row, task, columns, onTask }}
                  chosen={task.task === chosen}
                  style={{ gridTemplateColumns: template, transform: `translateY(${start}px)`, height: ROW }}
                />
              );
            })}
          </div>
        </div>
      </div>
    </Section>
  );
}

/** Indices of the tasks, the most solved first: all, those the runs disagree on, and those nobody solved. */
function sortTasks({ tasks, columns }: Matrix): { all: number[]; differ: number[]; none: number[] } {
  const solved = tasks.map((_, row) => columns.filter(({ outcome }) => outcome[row] === 1).length);
  const played = tasks.map((_, row) => columns.filter(({ outcome }) => outcome[row] !== -1).length);
  const differ = (row: number): boolean => (solved[row] ?? 0) > 0 && (solved[row] ?? 0) < (played[row] ?? 0);
  const all = tasks.map((_, row) => row).sort((a, b) => (solved[b] ?? 0) - (solved[a] ?? 0));
  return {
    all,
    differ: all.filter(differ),
    none: all.filter((row) => solved[row] === 0),
  };
}

interface MatrixRowProps {
  row: number;
  task: Matrix['tasks'][number];
  columns: Matrix['columns'];
  chosen: boolean;
  onTask: (task: string) => void;
  style: CSSProperties;
}

function MatrixRow({ row, task, columns, chosen, onTask, style }: MatrixRowProps) {
  return (
    <div className={styles.matrixRow} data-chosen={chosen || undefined} style={style}>
      <span className={styles.taskName} title={`${task.category}, ${task.tier}`}>
        {task.task} <span className={util.muted}>{task.category}</span>
      </span>
      {columns.map(({ run, outcome, episode }) => (
        <MatrixCell key={run} run={run} task={task.task} outcome={outcome[row] ?? -1} episode={episode[row] ?? 0} />
      ))}
      <span>
        {columns.length > 1 && (
          <Button kind="quiet" onClick={() => onTask(task.task)}>
            Side by side
          </Button>
        )}
      </span>
    </div>
  );
}

function MatrixCell({ run, task, outcome, episode }: { run: number; task: string; outcome: number; episode: number }) {
  const words = outcome === 1 ? 'solved' : outcome === 0 ? 'failed' : 'not played';
  const mark = outcome === -1 ? <span className={util.muted}>–</span> : <Icon name={outcome === 1 ? 'check' : 'cross'} size={13} />;
  const label = `Run ${run}, task ${task}: ${words}`;
  if (episode === 0) {
    return (
      <span className={styles.mark} data-outcome={words} title={`${label} (episode not stored)`}>
        {mark}
        <span className={util.spoken}>{label}</span>
      </span>
    );
  }
  return (
    <a className={styles.mark} data-outcome={words} href={`#/replay/${run}/${episode}`} aria-label={label} title={label}>
      {mark}
    </a>
  );
}
