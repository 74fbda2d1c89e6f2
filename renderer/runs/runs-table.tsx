// The table itself: only the rows in view exist, so 5,000 runs scroll like 50. A real table with the role of a grid: one
// stop for Tab, arrows move a cursor, Enter opens, Space selects.

import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef } from 'react';
import type { KeyboardEvent, MouseEvent } from 'react';
import type { RunRow } from '../../preload/contract/runs.ts';
import { Icon } from '../components/icons.tsx';
import { Head } from '../components/table.tsx';
import { formatValue } from '../format.ts';
import type { Column } from './columns.tsx';
import type { RunGroup } from './rows.ts';
import type { MenuPlace } from './run-menu.tsx';
import util from '../theme/utilities.module.css';
import styles from './runs.module.css';

export type Item =
  | { readonly kind: 'run'; readonly run: RunRow }
  | { readonly kind: 'group'; readonly group: RunGroup; readonly open: boolean };

export interface RunsTableProps {
  items: readonly Item[];
  columns: readonly Column[];
  sort: { readonly column: string; readonly descending: boolean };
  onSort: (column: string) => void;
  selected: ReadonlySet<number>;
  onSelect: (runs: readonly number[], on: boolean) => void;
  /** Index into `items`. */
  cursor: number;
  onCursor: (cursor: number) => void;
  onOpen: (run: RunRow) => void;
  onToggleGroup: (key: string) => void;
  onDelete: () => void;
  /** Right-click on a row. */
  onMenu: (place: MenuPlace) => void;
}

const ROW = 30;
const SELECT_WIDTH = 34;

export function RunsTable(props: RunsTableProps) {
  const { items, columns, sort, onSort, selected, onSelect, cursor, onCursor, onOpen, onToggleGroup, onDelete, onMenu } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const anchor = useRef<number | null>(null);
  const rows = useVirtualizer({ count: items.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 12 });
  const shown = rows.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const after = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const width = columns.reduce((sum, column) => sum + column.width, SELECT_WIDTH);
  const runs = items.flatMap((item) => (item.kind === 'run' ? [item.run.id] : []));
  const all = runs.length > 0 && runs.every((run) => selected.has(run));

  useEffect(() => {
    if (cursor >= 0) rows.scrollToIndex(cursor);
  }, [cursor, rows]);

  // From here on the list can be used; `npm run bench -- window` measures up to this mark.
  useEffect(() => {
    performance.mark('runs drawn');
  }, []);

  /** From the anchor to here, as Shift asks for. */
  const extend = (to: number): void => {
    const from = anchor.current ?? to;
    const part = items.slice(Math.min(from, to), Math.max(from, to) + 1);
    onSelect(
      part.flatMap((item) => (item.kind === 'run' ? [item.run.id] : [])),
      true,
    );
  };
  const select = (index: number, event: { shiftKey: boolean }): void => {
    const item = items[index];
    if (item?.kind !== 'run') return;
    if (event.shiftKey && anchor.current !== null) extend(index);
    else onSelect([item.run.id], !selected.has(item.run.id));
    anchor.current = index;
  };
  const activate = (index: number): void => {
    const item = items[index];
    if (item?.kind === 'run') onOpen(item.run);
    else if (item) onToggleGroup(item.group.key);
  };

  const latest = useRef({ select, activate, onCursor, onMenu });
  latest.current = { select, activate, onCursor, onMenu };
  const stable = useRef<RowEvents>({
    select: (index, event) => latest.current.select(index, event),
    activate: (index, event) => {
      latest.current.onCursor(index);
      if (event.shiftKey || event.ctrlKey || event.metaKey) latest.current.select(index, event);
      else latest.current.activate(index);
    },
    menu: (run, event) => {
      event.preventDefault();
      latest.current.onMenu({ run, x: event.clientX, y: event.clientY });
    },
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? ROW) / ROW) - 2);
    const moves: Record<string, number> = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: items.length - 1,
    };
    const to = moves[event.key];
    const acts: Record<string, () => void> = {
      Enter: () => activate(cursor),
      ' ': () => select(cursor, event),
      Delete: onDelete,
      Escape: () => onSelect(runs, false),
    };
    if (to !== undefined) {
      const next = Math.min(items.length - 1, Math.max(0, to));
      if (event.shiftKey) {
        anchor.current ??= cursor;
        extend(next);
      } else anchor.current = next;
      onCursor(next);
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) onSelect(runs, true);
    else if (acts[event.key]) acts[event.key]?.();
    else return;
    event.preventDefault();
  };

  return (
    <div ref={scroller} className={styles.scroller}>
      <table
        className={styles.table}
        style={{ minWidth: width }}
        role="grid"
        aria-label="Runs"
        aria-rowcount={items.length + 1}
        aria-multiselectable
        aria-activedescendant={cursor >= 0 && cursor < items.length ? `run-row-${cursor}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => {
          if (cursor < 0 && items.length > 0) onCursor(0);
        }}
      >
        <colgroup>
          <col style={{ width: SELECT_WIDTH }} />
          {columns.map(({ id, width: wide, grow }) => (
            <col key={id} style={grow ? { minWidth: wide } : { width: wide }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <Head width={SELECT_WIDTH}>
              <input
                type="checkbox"
                className={styles.check}
                aria-label="Select all shown runs"
                tabIndex={-1}
                checked={all}
                onChange={() => onSelect(runs, !all)}
              />
            </Head>
            {columns.map((column) => (
              <Head
                key={column.id}
                {...(column.numeric && { numeric: true })}
                {...(column.sort && {
                  sort:
                    sort.column === column.id ? (sort.descending ? ('descending' as const) : ('ascending' as const)) : ('none' as const),
                  onSort: () => onSort(column.id),
                })}
              >
                {column.title}
              </Head>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr aria-hidden="true" style={{ height: before }} />}
          {shown.map(({ index, key }) => {
            const item = items[index];
            if (!item) return null;
            if (item.kind === 'group') {
              return (
                <GroupRow key={key} index={index} item={item} columns={columns.length} current={index === cursor} events={stable.current} />
              );
            }
            return (
              <RunLine
                key={key}
                index={index}
                run={item.run}
                columns={columns}
                selected={selected.has(item.run.id)}
                current={index === cursor}
                events={stable.current}
              />
            );
          })}
          {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
        </tbody>
      </table>
    </div>
  );
}

interface RowEvents {
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

/** Drawn again only when its own run, place or selection changes. */
const RunLine = memo(function RunLine({ index, run, columns, selected, current, events }: LineProps) {
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

function GroupRow({
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
                : 'one run, no interval'}
            </span>
          </span>
        )}
      </td>
    </tr>
  );
}
