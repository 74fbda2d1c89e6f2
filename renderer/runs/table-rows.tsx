// The rows of the table of runs: one run with its cells, or the head of a group with the mean over its runs.

import { memo } from 'react';
import type { MouseEvent } from 'react';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { Icon } from '../components/icons.tsx';
import { formatValue } from '../format.ts';
import type { Column } from './columns.tsx';
import type { Item } from './rows.ts';
import util from '../theme/utilities.module.css';
import styles from './runs.module.css';

export interface RowEvents {
  select(index: number, event: { shiftKey: boolean }): void;
  activate(index: number, event: MouseEvent): void;
  menu(run: RunRow, event: MouseEvent): void;
}

interface LineProps {
  index: number;
  run: RunRow;
  columns: readonly Column[];
  selected: boolean;
  current: boolean;
  events: RowEvents;
}

/** Drawn again only when its run, place or selection changes. */
export const RunLine = memo(function RunLine({ index, run, columns, selected, current, events }: LineProps) {
  return (
    <tr
      id={`run-row-${index}`}
      className={styles.row}
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-current={current || undefined}
      data-run={run.id}
      onClick={(event) => events.activate(index, event)}
      onContextMenu={(event) => events.menu(run, event)}
    >
      {/* The cell reacts, not only the small box: a near miss must not open the run. */}
      <td
        className={styles.cell}
        onClick={(event) => {
          event.stopPropagation();
          events.select(index, event);
        }}
      >
        <input type="checkbox" className={styles.check} tabIndex={-1} checked={selected} readOnly aria-label={`Select run ${run.id}`} />
      </td>
      {columns.map((column) => (
        <td key={column.id} className={styles.cell} data-numeric={column.numeric || undefined}>
          {column.cell(run)}
        </td>
      ))}
    </tr>
  );
});

export function GroupRow({
  index,
  item,
  columns,
  current,
  events,
}: {
  index: number;
  item: Extract<Item, { kind: 'group' }>;
  columns: number;
  current: boolean;
  events: RowEvents;
}) {
  const { label, runs, success } = item.group;
  return (
    <tr
      id={`run-row-${index}`}
      className={styles.groupRow}
      aria-rowindex={index + 2}
      aria-expanded={item.open}
      data-current={current || undefined}
      onClick={(event) => events.activate(index, event)}
    >
      <td className={styles.cell}>
        <Icon name={item.open ? 'chevronDown' : 'chevronRight'} size={13} />
      </td>
      <td className={styles.cell} colSpan={columns}>
        <strong>{label}</strong>{' '}
        <span className={util.faint}>
          {runs.length} {runs.length === 1 ? 'run' : 'runs'}
        </span>
        {success && (
          <span className={styles.groupMean}>
            mean success {formatValue(success.mean, 'share')}{' '}
            <span className={util.faint}>
              {success.interval
                ? `${formatValue(success.interval[0], 'share')}–${formatValue(success.interval[1], 'share')}, 95% interval over ${success.n} runs (Student’s t)`
                : success.configurations > 1
                  ? `${success.configurations} configurations, no interval`
                  : 'one run, no interval'}
            </span>
          </span>
        )}
      </td>
    </tr>
  );
}
